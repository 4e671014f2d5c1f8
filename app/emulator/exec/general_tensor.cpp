// Tensor Core products of integers, doubles and TF32, with fragments as in the PTX manual (mma.m16n8k32 of 8-bit
// integers, mma.m8n8k4 of .f64, mma.m16n8k8 of .tf32).
#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/exec/general.h"
#include "emulator/exec/tensor_core.h"

namespace attnscope::emulator {
namespace {

constexpr uint32_t kRows = 16, kColumns = 8;

Lane lane_of(Warp& warp, const Op& op, uint32_t lane) { return {bytes_of(warp), op, lane}; }

// The row of a lane's sum k: registers 0 and 1 belong to the first eight rows.
uint32_t row_of(uint32_t lane, uint32_t k) { return lane / 4 + k / 2 * 8; }
uint32_t column_of(uint32_t lane, uint32_t k) { return lane % 4 * 2 + k % 2; }

int32_t byte_of(uint32_t word, uint32_t index, Number type) {
  const auto bits = static_cast<uint8_t>(word >> 8 * index);
  return type == Number::s8 ? static_cast<int8_t>(bits) : bits;
}

}  // namespace

void g_imma(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDeepest = 32;
  int32_t a[kRows][kDeepest], b[kDeepest][kColumns];
  const TensorShape& shape = op.detail.tensor;
  const uint32_t halves = shape.rows / 8;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Lane l = lane_of(warp, op, lane);
    for (uint32_t part = 0; part < shape.depth / 16u; ++part) {
      const uint32_t depth = 16 * part + lane % 4 * 4;
      for (uint32_t i = 0; i < 4; ++i) {
        for (uint32_t half = 0; half < halves; ++half)
          a[lane / 4 + 8 * half][depth + i] = byte_of(l.raw(op.a, 0, halves * part + half), i, shape.a);
        b[depth + i][lane / 4] = byte_of(l.raw(op.b, 1, part), i, shape.b);
      }
    }
  }
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint32_t sums[4];
    for (uint32_t k = 0; k < 2 * halves; ++k) {
      int64_t sum = static_cast<int32_t>(l.raw(op.c, 2, k));
      for (uint32_t depth = 0; depth < shape.depth; ++depth)
        sum += int64_t{a[row_of(l.lane, k)][depth]} * b[depth][column_of(l.lane, k)];
      if (shape.saturates)
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      sums[k] = static_cast<uint32_t>(sum);
    }
    for (uint32_t k = 0; k < 2 * halves; ++k) l.set(sums[k], k);
  });
}

// Each product fused into the sum so far, by ascending depth.
void g_dmma(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDepth = 4;
  double a[8][kDepth], b[kDepth][kColumns];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Lane l = lane_of(warp, op, lane);
    a[lane / 4][lane % 4] = bits_as<double>(l.raw64(op.a, 0));
    b[lane % 4][lane / 4] = bits_as<double>(l.raw64(op.b, 1));
  }
  each_lane(warp, op, mask, [&](const Lane& l) {
    double sums[2];
    for (uint32_t k = 0; k < 2; ++k) {
      sums[k] = bits_as<double>(Lane::join(l.raw(op.c, 2, 2 * k), l.raw(op.c, 2, 2 * k + 1)));
      for (uint32_t depth = 0; depth < kDepth; ++depth) {
        const double x = a[l.lane / 4][depth], y = b[depth][column_of(l.lane, k)];
        sums[k] = finish_double(std::fma(x, y, sums[k]), bits_as<uint64_t>(x), bits_as<uint64_t>(y),
                                bits_as<uint64_t>(sums[k]));
      }
    }
    for (uint32_t k = 0; k < 2; ++k) {
      const auto bits = bits_as<uint64_t>(sums[k]);
      l.set(static_cast<uint32_t>(bits), 2 * k);
      l.set(static_cast<uint32_t>(bits >> 32), 2 * k + 1);
    }
  });
}

void g_hmma_tf32(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDeepest = 8;
  uint32_t a[kRows][kDeepest], b[kColumns][kDeepest];
  const TensorShape& shape = op.detail.tensor;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Lane l = lane_of(warp, op, lane);
    for (uint32_t part = 0; part < shape.depth / 4u; ++part) {
      const uint32_t depth = 4 * part + lane % 4;
      for (uint32_t half = 0; half < 2; ++half) a[lane / 4 + 8 * half][depth] = l.raw(op.a, 0, 2 * part + half);
      b[lane / 4][depth] = l.raw(op.b, 1, part);
    }
  }
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint32_t sums[4];
    for (uint32_t k = 0; k < 4; ++k)
      sums[k] = multiply_add_tf32(shape.sum, std::span(a[row_of(l.lane, k)], shape.depth),
                                  std::span(b[column_of(l.lane, k)], shape.depth), l.raw(op.c, 2, k));
    for (uint32_t k = 0; k < 4; ++k) l.set(sums[k], k);
  });
}

}  // namespace attnscope::emulator
