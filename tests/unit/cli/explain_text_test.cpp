#include "cli/explain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/findings.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// By luck, a run of a racy kernel may be "correct", and no rule of explain looks for a race.
TEST(Explanation, SaysThatNothingWasWatched) {
  Kernel kernel;
  Observation seen;
  seen.timing.emplace().p50 = 12;
  EXPECT_THAT(explanation_of(seen, kernel), HasSubstr(kNotWatched));
  seen.watch.emplace();
  EXPECT_THAT(explanation_of(seen, kernel), Not(HasSubstr("Not watched")));
  EXPECT_THAT(explanation_of(Observation{}, kernel), Not(HasSubstr("Not watched"))) << "refused: nothing ran";
}

}  // namespace
}  // namespace attnscope::cli
