#include "platform/running.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace attnscope::platform {
namespace {

using testing::ElementsAre;

// Names of this process only: no other process on the machine has one, nor the same test of another build.
TEST(Running, FindsAProcessByItsName) {
  char before[16] = {};
  prctl(PR_GET_NAME, before);
  const std::string pid = std::to_string(getpid());
  const std::string longer = "as-" + pid + "-and-much-more", other = "bs-" + pid;
  const std::string_view names[] = {longer, other};
  EXPECT_THAT(running(names), ElementsAre());
  prctl(PR_SET_NAME, other.c_str());
  EXPECT_THAT(running(names), ElementsAre(other));
  prctl(PR_SET_NAME, longer.c_str());  // the system keeps 15 characters
  EXPECT_THAT(running(names), ElementsAre(longer));
  prctl(PR_SET_NAME, before);
}

}  // namespace
}  // namespace attnscope::platform
