// docs/explaining.md says about published kernels what bench/results/published_sources.json holds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace attnscope::explain {
namespace {

using Json = nlohmann::json;

std::string text_of(const char* file) {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

constexpr int kFew = 3;  // of a group, or of all

bool holds(const Json& list, const Json& rule) { return std::ranges::find(list, rule) != list.end(); }

TEST(PublishedRecording, TheDocsSayWhatItHolds) {
  const Json kernels = Json::parse(text_of("bench/results/published_sources.json")).at("kernels");
  int named = 0, mended = 0;
  for (const Json& one : kernels) {
    if (one.contains("refused")) continue;
    EXPECT_LE(one.at("first").size(), size_t{kFew});
    if (one.at("named"))
      named += holds(one.at("first"), one.at("rule"));
    else
      mended += !holds(one.at("warned"), one.at("rule"));
  }
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("In {} of {} cases", named + mended, kernels.size())));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} times the fault that they name", named)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("and {} times\nthe version that mends it", mended)));
}

TEST(PublishedRecording, TheConflictsThatAreNotFoundCostNothing) {
  const Json kernels = Json::parse(text_of("bench/results/published_sources.json")).at("kernels");
  const auto fails = std::ranges::find_if(
      kernels, [](const Json& one) { return !one.at("met").get<bool>() && !one.contains("refused"); });
  ASSERT_NE(fails, kernels.end());
  const double us = fails->at("us"), conflicts = fails->at("conflicts"), wavefronts = fails->at("wavefronts");
  EXPECT_THAT(
      text_of("docs/explaining.md"),
      testing::HasSubstr(fmt::format("{:.0f} % of its wavefronts are conflicts, but they take {:.1f} of {:.0f} "
                                     "modelled us",
                                     100 * conflicts / wavefronts, fails->at("conflicts_us").get<double>(), us)));
  EXPECT_LT(fails->at("conflicts_us").get<double>(), 0.02 * us) << "less than a finding is made of";
}

// The reports' own kernels, unchanged: the rule of each question that is about one of them. One run answers several,
// and a list has three places that are among its first three: the docs say how many of the rules are in the causes that
// come first, or above them.
TEST(PublishedRecording, TheReportsOwnSourcesAnswerTheirQuestions) {
  const Json questions = Json::parse(text_of("bench/results/published_sources.json")).at("questions");
  std::set<int> asked;
  int found = 0, first = 0, of_cause = 0, above = 0, of_group = 0, leads = 0, silent = 0;
  std::map<std::string, std::pair<int, int>> runs;  // shown, and all; each run once
  std::map<std::string, int> places;                // of the run that most questions are about, by rule
  for (const Json& one : questions) {
    EXPECT_TRUE(one.at("met")) << one.dump();
    asked.insert(one.at("question").get<int>());
    runs[one.at("commit").dump() + one.at("file").dump() + one.at("knobs").dump() + one.at("against").dump() +
         one.at("problem").dump()] = {one.at("shown"), one.at("findings")};
    if (!one.at("found")) {
      ++silent;
      continue;
    }
    ++found;
    first += holds(one.at("first"), one.at("rule"));
    const Json& cause = one.at("place_of_cause");
    EXPECT_LE(one.at("causes").size(), size_t{kFew});
    of_cause += !cause.is_null();
    above += !cause.is_null() && cause == 0;
    of_group += one.at("place_in_group") <= kFew && one.at("place_in_group") > 0;
    leads += one.at("place_in_group") == 1;
    if (one.at("commit") == "3b65cf8" && !one.at("watched") && one.at("knobs").empty() && one.at("against").is_null())
      places[one.at("rule")] = one.at("place");
    EXPECT_GT(one.at("place"), 0) << one.dump();
  }
  const std::string docs = text_of("docs/explaining.md");
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} of the sixteen questions", asked.size())));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} of {} are among the first three causes, {} of them above",
                                                   of_cause, found, above)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} are among the first three findings", first)));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} rules are about one run", places.size())));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} of {} are among the first three of their group, and {} of them "
                                                   "its first",
                                                   of_group, found, leads)));
  int shown = 0, findings = 0;
  for (const auto& [run, counts] : runs) shown += counts.first, findings += counts.second;
  EXPECT_THAT(docs,
              testing::HasSubstr(fmt::format("{} of all {} findings of the {} runs", shown, findings, runs.size())));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("occupancy is number {} of all, the helper number {}, and the phase "
                                                   "with most of the time number {}",
                                                   places.at("occupancy.low"), places.at("helper.unused"),
                                                   places.at("phase.most"))));
  EXPECT_THAT(docs, testing::HasSubstr(fmt::format("{} times the rule is silent", silent)));
}

}  // namespace
}  // namespace attnscope::explain
