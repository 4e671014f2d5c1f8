#include "check/guarded_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "check/float_formats.h"
#include "unit/check/store_element.h"

namespace attnscope::check {
namespace {

TEST(GuardedBuffer, IsAlignedAndWholeAfterAMove) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{333}, size_t{65536}}) {
    GuardedBuffer first("o", bytes);
    GuardedBuffer buffer = std::move(first);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data().data()) % GuardedBuffer::kAlignment, 0u);
    EXPECT_EQ(buffer.data().size(), bytes);
    EXPECT_EQ(buffer.whole().size(), bytes + 2 * GuardedBuffer::kGuardBytes);
    std::memset(buffer.data().data(), 0x5a, bytes);
    EXPECT_TRUE(buffer.check_guards());
  }
}

TEST(GuardedBuffer, AStoreOutsideIsNamed) {
  GuardedBuffer buffer("o", 100);
  *(buffer.data().data() + 100) ^= std::byte{1};
  auto broken = buffer.check_guards();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().stage, Stage::launch);
  EXPECT_EQ(broken.error().message, "the kernel wrote 1 B past the end of buffer o (100 B)");
  *(buffer.data().data() - 4) ^= std::byte{1};
  broken = buffer.check_guards();
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, testing::HasSubstr("4 B before the start of buffer o"));
}

TEST(GuardedBuffer, CopyingACanaryElsewhereIsSeen) {
  GuardedBuffer buffer("o", 256);
  std::byte* end = buffer.data().data() + 256;
  std::memcpy(end + 64, end, 64);
  EXPECT_FALSE(buffer.check_guards());
}

TEST(Poison, IsASignallingNanOfEachType) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    std::vector<std::byte> tensor(16);
    fill_poison(dtype, tensor);
    const auto elements = static_cast<int64_t>(16 / bytes_of(dtype));
    EXPECT_EQ(count_poison(dtype, tensor), elements);
    for (int64_t i = 0; i < elements; ++i) EXPECT_TRUE(std::isnan(load_element(dtype, tensor.data(), i)));
    EXPECT_TRUE(is_poison_row(dtype, tensor.data(), 0, elements));
    store_element(dtype, tensor.data(), 1, NAN);  // an arithmetic NaN is different
    EXPECT_FALSE(is_poison(dtype, tensor.data(), 1));
    EXPECT_FALSE(is_poison_row(dtype, tensor.data(), 0, elements));
    EXPECT_EQ(count_poison(dtype, tensor), elements - 1);
  }
  // The quiet bit is clear and the payload is not zero.
  EXPECT_EQ(kPoison16F & 0x7e00, 0x7c00);
  EXPECT_NE(kPoison16F & 0x01ff, 0);
  EXPECT_EQ(kPoison16B & 0x7fc0, 0x7f80);
  EXPECT_NE(kPoison16B & 0x003f, 0);
  EXPECT_EQ(kPoison32 & 0x7fc00000u, 0x7f800000u);
  EXPECT_NE(kPoison32 & 0x003fffffu, 0u);
}

}  // namespace
}  // namespace attnscope::check
