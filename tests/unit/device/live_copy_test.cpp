#include "device/live_copy.h"

#include <gtest/gtest.h>

namespace attnscope::device {
namespace {

TEST(LiveCopy, CopiesEveryByteWhateverTheAlignment) {
  std::vector<std::byte> from(1003);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7);
  for (const size_t skip : {0u, 1u, 3u, 8u})
    EXPECT_EQ(live_copy(std::span(from).subspan(skip)),
              std::vector<std::byte>(from.begin() + static_cast<long>(skip), from.end()));
  EXPECT_TRUE(live_copy({}).empty());
}

}  // namespace
}  // namespace attnscope::device
