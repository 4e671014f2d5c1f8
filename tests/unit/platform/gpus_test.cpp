#include "platform/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

TEST(ListedGpus, AreThoseThatTheDriverListsAndTheUserLeaves) {
  const testing_support::TempDir dir;
  dir.write("0000:01:00.0/information", "");
  dir.write("0000:02:00.0/information", "");
  dir.write("0000:03:00.0/information", "");
  ASSERT_EQ(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
  EXPECT_EQ(listed_gpus(dir.path()), 3u);
  EXPECT_EQ(listed_gpus(dir.path() / "none"), 0u);
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "0,2", 1), 0);
  EXPECT_EQ(listed_gpus(dir.path()), 2u);
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3", 1), 0);
  EXPECT_EQ(listed_gpus(dir.path()), 3u);
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
  EXPECT_EQ(listed_gpus(dir.path()), 0u) << "hidden";
  ASSERT_EQ(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
}

}  // namespace
}  // namespace attnscope::platform
