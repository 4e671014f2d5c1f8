#include "cli/scan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

using testing::HasSubstr;

TEST(ScanText, ATieWithTheCurrentValueHasTheWordsOfEveryOther) {
  Scan scan;
  scan.held.config.knobs = {{"K", 4}};
  for (const auto& [value, us] : {std::pair(4, 100.0), {8, 100.4}, {16, 200.0}}) {
    auto run = std::make_shared<Observation>();
    run->verdict.emplace().state = VerdictState::correct;
    run->timing.emplace().kind = FigureKind::measured;
    run->timing->p50 = us;
    run->timing->interval_low = us * 0.99;
    run->timing->interval_high = us * 1.01;
    scan.points.push_back({"K", {value, ""}, value == 4, {}, {}, {}, run, {}});
  }
  const std::string text = text_of(scan, Kernel{});
  EXPECT_THAT(text, HasSubstr("100.40 us measured  cannot be told apart  "));
  EXPECT_THAT(text, HasSubstr("200.00 us measured              +100.0 %  "));
}

}  // namespace
}  // namespace attnscope::cli
