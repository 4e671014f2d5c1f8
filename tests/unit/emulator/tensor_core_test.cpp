// Tensor Core products against recordings of an H200 (tests/data/gpu/mma), on every instruction set of this CPU.
#include "emulator/exec/tensor_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "emulator/exec/handlers.h"
#include "emulator/exec/warp.h"
#include "support/mma_inputs.h"

namespace attnscope::emulator {
namespace {

using mma::Kind;

std::vector<HostIsa> isas() {
  std::vector<HostIsa> all{HostIsa::baseline};
  for (const HostIsa isa : {HostIsa::avx2, HostIsa::avx512})
    if (isa <= best_host_isa()) all.push_back(isa);
  return all;
}

Family family_of(Kind kind) {
  return kind == Kind::f16_f32 ? Family::hmma : kind == Kind::bf16_f32 ? Family::hmma_bf16 : Family::hmma_f16;
}

// A warp whose registers R0…R3 are a, R4, R5 b, R6…R9 c, and R12… the result.
class OneWarp {
 public:
  OneWarp() : bytes_(kLaneFileOffset + 32 * 128 + 64) {
    void* at = bytes_.data();
    size_t room = bytes_.size();
    warp_ = static_cast<Warp*>(std::align(64, room - 64, at, room));
  }

  void multiply(HostIsa isa, Kind kind, TensorSum sum, const mma::Product& product, uint32_t (&d)[16][8]) {
    const bool half_sum = kind == Kind::f16_f16;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t row = lane / 4, pair = lane % 4 * 2;
      for (uint32_t i = 0; i < 4; ++i) {
        const uint16_t* a = &product.a[row + i % 2 * 8][pair + i / 2 * 8];
        set(i, lane, a[0] | static_cast<uint32_t>(a[1]) << 16);
      }
      for (uint32_t i = 0; i < 2; ++i)
        set(4 + i, lane, product.b[pair + 8 * i][row] | static_cast<uint32_t>(product.b[pair + 8 * i + 1][row]) << 16);
      for (uint32_t i = 0; i < (half_sum ? 2 : 4); ++i)
        set(6 + i, lane,
            half_sum ? product.c[row + 8 * i][pair] | product.c[row + 8 * i][pair + 1] << 16
                     : product.c[row + i / 2 * 8][pair + i % 2]);
    }
    Op op;
    op.a = reg(0), op.b = reg(4), op.c = reg(6), op.dst = reg(12);
    op.detail.tensor = {sum, Number::f16, Number::f16, half_sum ? Number::f16 : Number::f32, 16, 16, false};
    handlers(isa).pairs[static_cast<int>(family_of(kind))][0].full(*warp_, op, kFull);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t row = lane / 4, pair = lane % 4 * 2;
      for (uint32_t i = 0; i < 4; ++i)
        d[row + i / 2 * 8][pair + i % 2] =
            half_sum ? get(12 + i / 2, lane) >> 16 * (i % 2) & 0xffff : get(12 + i, lane);
    }
  }

 private:
  static uint32_t reg(uint32_t index) { return kLaneFileOffset + 128 * index; }
  void set(uint32_t index, uint32_t lane, uint32_t value) {
    std::memcpy(bytes_of(*warp_) + reg(index) + 4 * lane, &value, 4);
  }
  uint32_t get(uint32_t index, uint32_t lane) const {
    uint32_t value;
    std::memcpy(&value, bytes_of(*warp_) + reg(index) + 4 * lane, 4);
    return value;
  }

  std::vector<uint8_t> bytes_;
  Warp* warp_;
};

std::vector<uint64_t> recorded(Kind kind, const std::string& ending = ".hashes") {
  std::ifstream file(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/mma/" + (mma::name_of(kind) + ending), std::ios::binary);
  std::vector<uint64_t> hashes;
  for (uint64_t hash; file.read(reinterpret_cast<char*>(&hash), sizeof hash);) hashes.push_back(hash);
  return hashes;
}

class TensorCore : public testing::TestWithParam<Kind> {};

TEST_P(TensorCore, EveryRecordedProductIsEqualBitForBit) {
  const std::vector<uint64_t> hashes = recorded(GetParam());
  ASSERT_EQ(hashes.size(), 8192u);
  OneWarp warp;
  for (const HostIsa isa : isas()) {
    int different = 0;
    for (uint32_t i = 0; i < hashes.size(); ++i) {
      uint32_t d[16][8];
      warp.multiply(isa, GetParam(), tensor_sum(90), mma::product(GetParam(), i), d);
      different += mma::hash_of(d) != hashes[i];
    }
    EXPECT_EQ(different, 0) << "instruction set " << static_cast<int>(isa);
  }
}

// 1,049,088 products in groups; sanitizer builds check a part of them.
TEST_P(TensorCore, AMillionRecordedProductsAreEqualBitForBit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t kEvery = 64;
#else
  constexpr size_t kEvery = 1;
#endif
  constexpr uint32_t kGroup = 256;
  const std::vector<uint64_t> groups = recorded(GetParam(), ".groups");
  ASSERT_EQ(groups.size(), 1366u);
  OneWarp warp;
  int different = 0;
  for (size_t i = 0; i < groups.size(); i += kEvery) {
    uint64_t hashes[kGroup];
    for (uint32_t k = 0; k < kGroup; ++k) {
      uint32_t d[16][8];
      warp.multiply(best_host_isa(), GetParam(), tensor_sum(90),
                    mma::product(GetParam(), static_cast<uint32_t>(i) * kGroup + k), d);
      hashes[k] = mma::hash_of(d);
    }
    different += mma::hash_of(hashes, kGroup) != groups[i];
  }
  EXPECT_EQ(different, 0);
}

TEST_P(TensorCore, TheFastWayIsTheExactOneInTwoStepsToo) {
  OneWarp warp;
  for (uint32_t i = 0; i < 256; ++i) {
    const mma::Product product = mma::product(GetParam(), i);
    uint32_t d[16][8];
    warp.multiply(best_host_isa(), GetParam(), tensor_sum(89), product, d);
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 8; ++n) {
        uint16_t column[16];
        for (int k = 0; k < 16; ++k) column[k] = product.b[k][n];
        ASSERT_EQ(d[m][n], multiply_add_one(tensor_sum(89), static_cast<TensorKind>(GetParam()), product.a[m], column,
                                            product.c[m][n]))
            << "product " << i << ", row " << m << ", column " << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TensorCore, testing::ValuesIn(mma::kKinds),
                         [](const auto& kind) { return std::string(mma::name_of(kind.param)); });

TEST(TensorCoreSum, OlderArchitecturesAddInTwoStepsAndKeepABitLess) {
  const uint16_t one = 0x3c00;
  uint16_t row[16], column[16];
  for (int k = 0; k < 16; ++k) row[k] = column[k] = one;
  const auto float_bits = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
  };
  // At 2^25 a float's step is 4: 16 ones at once add 16; two steps of 8 add 8 and 8.
  EXPECT_EQ(multiply_add_one(tensor_sum(90), TensorKind::f16_f32, row, column, float_bits(33554432.0f)),
            float_bits(33554448.0f));
  // 2^25 again: 24 bits below it the unit is 2, so a 1 has no effect.
  EXPECT_EQ(multiply_add_one(tensor_sum(80), TensorKind::f16_f32, row, column, float_bits(33554432.0f)),
            float_bits(33554432.0f));
}

}  // namespace
}  // namespace attnscope::emulator
