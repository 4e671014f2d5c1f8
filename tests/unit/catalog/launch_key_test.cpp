#include "catalog/launch_key.h"

#include <gtest/gtest.h>

#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

TEST(LaunchKey, DiffersWhereTheLaunchDoes) {
  const Kernel tiled = shipped("02_tiled");
  const auto key = [&](const std::map<std::string, int64_t>& knobs) {
    return launch_key(tiled, tiled.default_problem(), config_of(tiled, knobs));
  };
  EXPECT_EQ(key({}), key({{"VEC_WIDTH", 8}}));
  EXPECT_NE(key({}), key({{"NUM_WARPS", 8}})) << "block";
  EXPECT_NE(key({}), key({{"BLOCK_M", 16}})) << "grid";
  EXPECT_NE(key({}), key({{"SHARED", 1}})) << "dynamic shared memory";
  Kernel together = tiled;
  together.launch.cooperative = true;
  EXPECT_NE(key({}), launch_key(together, tiled.default_problem(), config_of(tiled, {})));
}

}  // namespace
}  // namespace attnscope::catalog
