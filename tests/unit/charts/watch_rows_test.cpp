#include "charts/watch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using ::testing::ElementsAre;

Finding finding(const char* rule, const char* severity, std::map<std::string, std::string> where) {
  Finding one;
  one.rule = Rule::named(rule), one.severity = *parse_word<Severity>(severity),
  one.sentence = std::string("All of ") + rule + ".";
  one.where.insert(where.begin(), where.end());
  return one;
}

std::vector<std::string> headlines(const WatchReport& report) {
  std::vector<std::string> all;
  for (const WatchRow& row : watch_rows(report)) all.push_back(row.headline);
  return all;
}

TEST(WatchRows, SayWhatAndWhereErrorsFirst) {
  WatchReport report;
  report.findings = {
      finding("race.warp", "warning", {{"file", "k.cu"}, {"line", "7"}, {"buffer", "S_tile"}}),
      finding("race.shared", "error",
              {{"file", "k.cu"}, {"line", "9"}, {"other_file", "k.cu"}, {"other_line", "5"}, {"buffer", "S_tile"}}),
      finding("race.grid", "error", {{"file", "k.cu"}, {"line", "9"}, {"other_file", "h.h"}, {"other_line", "2"}}),
      finding("never_written.global", "error", {{"file", "k.cu"}, {"line", "3"}, {"buffer", "o"}})};
  EXPECT_THAT(headlines(report),
              ElementsAre("Race in S_tile: k.cu:5, 9", "Race between CTAs: h.h:2, k.cu:9",
                          "Read before it is written in o: k.cu:3", "Race within a warp in S_tile: k.cu:7"));
  EXPECT_TRUE(watch_rows(report)[0].error);
  EXPECT_FALSE(watch_rows(report)[3].error);
  EXPECT_EQ(watch_rows(report)[0].sentence, "All of race.shared.");
}

TEST(WatchRows, LuckSaysHowManyOfWhat) {
  Finding luck = finding("luck.order", "error", {});
  luck.evidence = {{"orders that change the output", 3, "", FigureKind::counted},
                   {"orders tried", 8, "", FigureKind::counted}};
  Finding fills = finding("luck.fill", "warning", {});
  fills.evidence = {{"fills that change the output", 1, "", FigureKind::counted},
                    {"fills tried", 3, "", FigureKind::counted}};
  WatchReport report;
  report.findings = {fills, luck};
  EXPECT_THAT(headlines(report),
              ElementsAre("Right by luck: 3 of 8 warp orders change the output",
                          "Not the same every time: 1 of 3 fills of shared memory change the output"));
}

TEST(WatchRows, TheShareIsSaid) {
  WatchReport report;
  report.ctas = 8, report.total_ctas = 128, report.fills = 3, report.orders = 8;
  EXPECT_EQ(watch_share_text(report), "8 of 128 CTAs, 3 contents of shared memory, 8 orders of the warps");
  report.total_ctas = 8;
  EXPECT_THAT(watch_share_text(report), ::testing::StartsWith("all 8 CTAs"));
}

}  // namespace
}  // namespace attnscope::charts
