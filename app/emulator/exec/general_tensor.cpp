// Tensor Core products of integers, doubles and TF32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/exec/general.h"
#include "emulator/exec/tensor_core.h"
#include "emulator/isa/fragments.h"

namespace attnscope::emulator {
namespace {

constexpr uint32_t kRows = 16, kColumns = 8;

// Calls visit(lane, its place, row, column) for every element that the warp holds.
template <class Visit>
void each_element(Warp& warp, const Op& op, const MatrixFragment& of, Visit visit) {
  for (int64_t row = 0; row < of.rows; ++row)
    for (int64_t column = 0; column < of.columns; ++column) {
      const FragmentPlace place = place_of(of, row, column);
      visit(Lane{bytes_of(warp), op, place.lane}, place, static_cast<size_t>(row), static_cast<size_t>(column));
    }
}

// D of 32 bits: sum_of(row, column, element of C), for the lanes of `mask`. All sums are computed before the first is
// stored, because D may use C's registers.
template <class Sum>
void set_sums(Warp& warp, const Op& op, uint32_t mask, Sum sum_of) {
  const MatrixFragment fragment = fragment_c(op.detail.tensor);
  uint32_t sums[kRows][kColumns];
  each_element(warp, op, fragment, [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    sums[row][column] = sum_of(row, column, l.raw(op.c, 2, at.reg));
  });
  each_element(warp, op, fragment, [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    if (mask >> l.lane & 1) l.set(sums[row][column], at.reg);
  });
}

int32_t integer_of(uint32_t word, uint32_t bit, Number type) {
  const auto bits = static_cast<uint8_t>(word >> bit);
  const int32_t nibble = bits & 0xf;
  if (type == Number::u4) return nibble;
  if (type == Number::s4) return nibble < 8 ? nibble : nibble - 16;
  return type == Number::s8 ? static_cast<int8_t>(bits) : bits;
}

}  // namespace

void g_imma(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDeepest = 64;
  int32_t a[kRows][kDeepest], b[kDeepest][kColumns];
  const TensorShape& shape = op.detail.tensor;
  each_element(warp, op, fragment_a(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    a[row][column] = integer_of(l.raw(op.a, 0, at.reg), at.bit, shape.a);
  });
  each_element(warp, op, fragment_b(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    b[row][column] = integer_of(l.raw(op.b, 1, at.reg), at.bit, shape.b);
  });
  set_sums(warp, op, mask, [&](size_t row, size_t column, uint32_t c) {
    int64_t sum = static_cast<int32_t>(c);
    for (uint32_t depth = 0; depth < shape.depth; ++depth) sum += int64_t{a[row][depth]} * b[depth][column];
    if (shape.saturates)
      sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    return static_cast<uint32_t>(sum);
  });
}

// Each product is fused into the sum so far, by ascending depth.
void g_dmma(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDepth = 4;
  double a[8][kDepth], b[kDepth][kColumns], sums[8][kColumns];
  const TensorShape& shape = op.detail.tensor;
  const auto element = [](const Lane& l, uint32_t offset, int slot, uint32_t reg) {
    return bits_as<double>(Lane::join(l.raw(offset, slot, reg), l.raw(offset, slot, reg + 1)));
  };
  each_element(warp, op, fragment_a(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    a[row][column] = element(l, op.a, 0, at.reg);
  });
  each_element(warp, op, fragment_b(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    b[row][column] = element(l, op.b, 1, at.reg);
  });
  each_element(warp, op, fragment_c(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    double& sum = sums[row][column];
    sum = element(l, op.c, 2, at.reg);
    for (uint32_t depth = 0; depth < kDepth; ++depth) {
      const double x = a[row][depth], y = b[depth][column];
      sum = finish_double(std::fma(x, y, sum), bits_as<uint64_t>(x), bits_as<uint64_t>(y), bits_as<uint64_t>(sum));
    }
  });
  each_element(warp, op, fragment_c(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    if (!(mask >> l.lane & 1)) return;
    const auto bits = bits_as<uint64_t>(sums[row][column]);
    l.set(static_cast<uint32_t>(bits), at.reg);
    l.set(static_cast<uint32_t>(bits >> 32), at.reg + 1);
  });
}

void g_hmma_tf32(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint32_t kDeepest = 8;
  uint32_t a[kRows][kDeepest], b[kColumns][kDeepest];  // b: by columns
  const TensorShape& shape = op.detail.tensor;
  each_element(warp, op, fragment_a(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    a[row][column] = l.raw(op.a, 0, at.reg);
  });
  each_element(warp, op, fragment_b(shape), [&](const Lane& l, const FragmentPlace& at, size_t row, size_t column) {
    b[column][row] = l.raw(op.b, 1, at.reg);
  });
  set_sums(warp, op, mask, [&](size_t row, size_t column, uint32_t c) {
    return multiply_add_tf32(shape.sum, std::span(a[row], shape.depth), std::span(b[column], shape.depth), c);
  });
}

}  // namespace attnscope::emulator
