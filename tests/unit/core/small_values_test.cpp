// The small helpers that other layers build on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/replace_all.h"
#include "core/sampled_line.h"
#include "core/sm_timeline.h"
#include "core/touch.h"
#include "core/where_of.h"
#include "core/with_commas.h"

namespace attnscope {
namespace {

TEST(WithCommas, GroupsByThree) {
  const std::pair<int64_t, const char*> cases[] = {{0, "0"},
                                                   {7, "7"},
                                                   {999, "999"},
                                                   {1000, "1,000"},
                                                   {-1, "-1"},
                                                   {-999, "-999"},
                                                   {-1000, "-1,000"},
                                                   {12345, "12,345"},
                                                   {123456, "123,456"},
                                                   {1234567, "1,234,567"},
                                                   {INT64_MAX, "9,223,372,036,854,775,807"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(with_commas(value), text);
}

TEST(ReplaceAll, GoesOnBehindWhatItPut) {
  const auto replaced = [](std::string text, std::string_view what, std::string_view by) {
    replace_all(text, what, by);
    return text;
  };
  EXPECT_EQ(replaced("abcabc", "b", "xyz"), "axyzcaxyzc");
  EXPECT_EQ(replaced("aaa", "a", "aa"), "aaaaaa") << "what it put is not replaced again";
  EXPECT_EQ(replaced("aaaa", "aa", ""), "");
  EXPECT_EQ(replaced("abab", "ab", ""), "");
  EXPECT_EQ(replaced("", "a", "b"), "");
  EXPECT_EQ(replaced("abc", "abcd", "x"), "abc");
}

TEST(WhereOf, IsEmptyWhereAFindingDoesNotSay) {
  Finding finding;
  EXPECT_EQ(where_of(finding, "file"), "");
  finding.where = {{"file", "a.cu"}, {"line", "7"}};
  EXPECT_EQ(where_of(finding, "file"), "a.cu");
  EXPECT_EQ(where_of(finding, "line"), "7");
  EXPECT_EQ(where_of(finding, "launch"), "");
}

SampledLine a_line() {
  SampledLine line;
  line.samples = 100, line.unissued = 40;
  line.stalls = {{"long_scoreboard", 60}, {"selected", 30}};
  line.file = "a.cu", line.line = 12;
  line.share = 0.25;
  line.modelled = 0.5;
  return line;
}

TEST(SampledLine, ComesBackFromItsFinding) {
  const Finding finding = to_finding(a_line(), "Warps stand here.");
  EXPECT_EQ(finding.rule.id(), RuleId::samples_line);
  EXPECT_EQ(finding.sentence, "Warps stand here.");
  EXPECT_EQ(sampled_line_of(finding), a_line());
  const auto value = [&](const std::string& name) {
    for (const Evidence& one : finding.evidence)
      if (one.name == name) return one;
    return Evidence{};
  };
  EXPECT_EQ(value("share").value, 25);
  EXPECT_EQ(value("share").unit, "%");
  EXPECT_EQ(value("modelled share").value, 50);
  EXPECT_EQ(value("modelled share").kind, FigureKind::modelled);
  EXPECT_EQ(value("samples").kind, FigureKind::measured);
  EXPECT_EQ(value("long_scoreboard").value, 60);
  SampledLine unknown = a_line();
  unknown.file.clear(), unknown.line = 0, unknown.modelled.reset(), unknown.stalls.clear();
  EXPECT_TRUE(to_finding(unknown, "").where.empty());
  EXPECT_EQ(sampled_line_of(to_finding(unknown, "")), unknown);
  unknown.line = 1;
  unknown.file = "b.cu";
  EXPECT_EQ(sampled_line_of(to_finding(unknown, "")), unknown) << "the first line of a file";
}

TEST(SampledLine, IsOnlyOfItsOwnRuleAndReadsNoNonsense) {
  Finding other = to_finding(a_line(), "");
  other.rule = RuleId::samples_taken;
  EXPECT_FALSE(sampled_line_of(other));
  Finding odd = to_finding(a_line(), "");
  for (Evidence& one : odd.evidence)
    if (one.name == "samples" || one.unit == "samples") one.value = -3;
  EXPECT_EQ(sampled_line_of(odd)->samples, 0);
  EXPECT_EQ(sampled_line_of(odd)->stalls[0].samples, 0);
  odd.evidence[0].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sampled_line_of(odd)->samples, 0);
  odd.evidence[0].value = 0x1p53;
  EXPECT_EQ(sampled_line_of(odd)->samples, 0) << "more than a double counts";
  odd.evidence[0].value = 0x1p53 - 1;
  EXPECT_EQ(sampled_line_of(odd)->samples, (int64_t{1} << 53) - 1);
  odd.where.erase("line");
  EXPECT_EQ(sampled_line_of(odd)->file, "");
}

TEST(SmTimelineCtas, TheOneAtAClockIsOfThisSmAndPlace) {
  SmTimeline timeline;
  timeline.sm = 1;
  timeline.ctas = {{0, 0, 0, 0, 10}, {1, 1, 0, 0, 10}, {2, 1, 0, 10, 20}, {3, 1, 1, 5, 15}};
  const auto at = [&](int64_t place, double clock) {
    const CtaSpan* found = timeline.cta_at(place, clock);
    return found == nullptr ? -1 : found->cta;
  };
  EXPECT_EQ(at(0, 0), 1);
  EXPECT_EQ(at(0, 9.9), 1);
  EXPECT_EQ(at(0, 10), 2) << "its first clock, and not the last one's end";
  EXPECT_EQ(at(0, 20), -1);
  EXPECT_EQ(at(1, 4.9), -1);
  EXPECT_EQ(at(1, 5), 3);
  EXPECT_EQ(at(2, 5), -1);
}

TEST(Touches, ComeBackFromTheirJsonAndHaveTheirLimits) {
  const Touches touches{{{"x", true, false, 4, 128, 0, false}, {"y", false, true, 0, 64, 32, true}}, 12};
  const auto again = read_fields<Touches>(write_fields(touches), "t", Stage::input);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, touches);
  for (const char* place : {"/buffers/0/begin", "/buffers/0/end", "/buffers/1/stored_bytes", "/work"}) {
    Json json = write_fields(touches);
    json[Json::json_pointer(place)] = -1;
    EXPECT_FALSE(read_fields<Touches>(json, "t", Stage::input)) << place;
    json[Json::json_pointer(place)] = 0;
    EXPECT_TRUE(read_fields<Touches>(json, "t", Stage::input)) << place;
    json[Json::json_pointer(place)] = 1.0e19;
    EXPECT_FALSE(read_fields<Touches>(json, "t", Stage::input)) << place;
  }
  Json nameless = write_fields(touches);
  nameless["buffers"][0].erase("buffer");
  EXPECT_FALSE(read_fields<Touches>(nameless, "t", Stage::input));
  nameless = write_fields(touches);
  nameless.erase("buffers");
  EXPECT_FALSE(read_fields<Touches>(nameless, "t", Stage::input));
}

}  // namespace
}  // namespace attnscope
