#include "platform/running.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

namespace attnscope::platform {
namespace {

using testing::ElementsAre;

// Names of this test's own: another process of the machine has none of them.
TEST(Running, FindsAProcessByItsName) {
  char before[16] = {};
  prctl(PR_GET_NAME, before);
  constexpr std::string_view names[] = {"attnscope-aaaaa-and-more", "attnscope-bbbbb"};
  EXPECT_THAT(running(names), ElementsAre());
  prctl(PR_SET_NAME, "attnscope-bbbbb");
  EXPECT_THAT(running(names), ElementsAre("attnscope-bbbbb"));
  prctl(PR_SET_NAME, "attnscope-aaaaa-and-more");  // the system keeps 15 characters
  EXPECT_THAT(running(names), ElementsAre("attnscope-aaaaa-and-more"));
  prctl(PR_SET_NAME, before);
}

}  // namespace
}  // namespace attnscope::platform
