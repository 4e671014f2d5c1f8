// The arithmetic of the reference, compiled for each SIMD level and chosen at start. fp64 results differ between levels
// by the order of additions alone (about 1e-16), far below any figure of a verdict.
#include "check/attention_simd.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "check/attention_simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
// After foreach_target.h: these are read once for each target.
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::check::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;

// Rounds every lane to what dtype holds: the vector form of round_to (float_formats.h).
HWY_INLINE VF round_lanes(DType dtype, VF value) {
  const F f;
  const hn::RebindToUnsigned<F> u;
  if (dtype == DType::f32) return value;
  const auto bits = hn::BitCast(u, value);
  const auto sign = hn::And(bits, hn::Set(u, 0x80000000u)), magnitude = hn::And(bits, hn::Set(u, 0x7fffffffu));
  const auto is_nan = hn::Gt(magnitude, hn::Set(u, 0x7f800000u));
  if (dtype == DType::bf16) {
    const auto lsb = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
    const auto rounded = hn::And(hn::Add(hn::Add(bits, hn::Set(u, 0x7fffu)), lsb), hn::Set(u, 0xffff0000u));
    return hn::BitCast(f, hn::IfThenElse(is_nan, bits, rounded));
  }
  const auto lsb = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 1));
  const auto normal = hn::And(hn::Add(hn::Add(magnitude, hn::Set(u, 0xfffu)), lsb), hn::Set(u, 0xffffe000u));
  const VF half = hn::Set(f, 0.5f);
  const auto subnormal = hn::BitCast(u, hn::Sub(hn::Add(hn::BitCast(f, magnitude), half), half));
  auto rounded = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, 0x38800000u)), subnormal, normal);
  rounded = hn::IfThenElse(hn::Gt(magnitude, hn::Set(u, 0x477fefffu)), hn::Set(u, 0x7f800000u), rounded);
  return hn::BitCast(f, hn::Or(sign, hn::IfThenElse(is_nan, magnitude, rounded)));
}

// accumulator + a·b as the accumulating type keeps it. Products of halves are exact in fp32.
template <class V>
HWY_INLINE V accumulate_in(Accumulate type, V a, V b, V accumulator) {
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    if (type == Accumulate::f16) return round_lanes(DType::f16, hn::MulAdd(a, b, accumulator));
  }
  return hn::MulAdd(a, b, accumulator);
}

// out[r][c] = Σ_i left(r, i) · right[i][c] for four rows and `columns` columns, a multiple of two vectors.
template <class T, class Left>
HWY_INLINE void multiply_tile(Left left, const T* right, int64_t right_stride, int64_t inner, int64_t columns, T* out,
                              int64_t out_stride, Accumulate type) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < columns; c += 2 * lanes) {
    auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    const T* column = right + c;
    for (int64_t i = 0; i < inner; ++i, column += right_stride) {
      const auto x0 = hn::LoadU(d, column), x1 = hn::LoadU(d, column + lanes);
      const auto w0 = hn::Set(d, left(0, i)), w1 = hn::Set(d, left(1, i));
      const auto w2 = hn::Set(d, left(2, i)), w3 = hn::Set(d, left(3, i));
      a0 = accumulate_in(type, w0, x0, a0), a1 = accumulate_in(type, w0, x1, a1);
      b0 = accumulate_in(type, w1, x0, b0), b1 = accumulate_in(type, w1, x1, b1);
      c0 = accumulate_in(type, w2, x0, c0), c1 = accumulate_in(type, w2, x1, c1);
      d0 = accumulate_in(type, w3, x0, d0), d1 = accumulate_in(type, w3, x1, d1);
    }
    hn::StoreU(a0, d, out + c), hn::StoreU(a1, d, out + c + lanes);
    hn::StoreU(b0, d, out + out_stride + c), hn::StoreU(b1, d, out + out_stride + c + lanes);
    hn::StoreU(c0, d, out + 2 * out_stride + c), hn::StoreU(c1, d, out + 2 * out_stride + c + lanes);
    hn::StoreU(d0, d, out + 3 * out_stride + c), hn::StoreU(d1, d, out + 3 * out_stride + c + lanes);
  }
}

// scores[0, n) become exp(score - max), zero from `visible` on. Gives their sum; n is a multiple of a vector.
template <class T>
HWY_INLINE T exponentiate(T* scores, int64_t visible, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = visible; j < n; ++j) scores[j] = -std::numeric_limits<T>::infinity();
  auto highest = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t j = 0; j < n; j += lanes) highest = hn::Max(highest, hn::LoadU(d, scores + j));
  highest = hn::MaxOfLanes(d, highest);
  const auto lowest = hn::Set(d, sizeof(T) == 8 ? T(-708) : T(-87));  // below it exp is not normal: 0
  auto sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const auto x = hn::Sub(hn::LoadU(d, scores + j), highest);
    // A NaN score keeps the lane (the comparison is false), so the row becomes NaN as it must.
    const auto e = hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Exp(d, x));
    hn::StoreU(e, d, scores + j);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

int64_t padded_visible(const DecodedHead& head, const RowTile& tile) {
  int64_t n = 0;
  for (int64_t visible : tile.visible) n = std::max(n, visible);
  return std::min(head.padded_keys, (n + kKeyTile - 1) / kKeyTile * kKeyTile);
}

void attend_exact_impl(const DecodedHead& head, const RowTile& tile, double scale, Scratch& scratch) {
  const int64_t n = padded_visible(head, tile), keys = head.padded_keys, dim = head.padded_dim;
  double* scores = scratch.scores.data();
  const float* q = tile.q.data();
  multiply_tile<double>([&](int64_t r, int64_t i) { return static_cast<double>(q[r * head.dim + i]); },
                        head.exact.k_transposed.data(), keys, head.dim, n, scores, keys, Accumulate::f32);
  double inverse[kRowTile] = {};
  for (int64_t r = 0; r < kRowTile; ++r) {
    double* row = scores + r * keys;
    for (int64_t j = 0; j < n; ++j) row[j] *= scale;
    if (tile.visible[r] > 0) {
      inverse[r] = 1.0 / exponentiate(row, tile.visible[r], n);
    } else {
      for (int64_t j = 0; j < n; ++j) row[j] = 0;
    }
  }
  double* out = scratch.out.data();
  multiply_tile<double>([&](int64_t r, int64_t i) { return scores[r * keys + i]; }, head.exact.v.data(), dim, n, dim,
                        out, dim, Accumulate::f32);
  for (int64_t r = 0; r < kRowTile; ++r)
    for (int64_t c = 0; c < dim; ++c) out[r * dim + c] = tile.visible[r] > 0 ? out[r * dim + c] * inverse[r] : 0;
}

// Scales and rounds one row of scores; says whether all of them were finite before rounding.
HWY_INLINE bool finish_scores(float* row, int64_t visible, int64_t n, float scale, DType dtype) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t j = visible; j < n; ++j) row[j] = 0;
  auto poisoned = hn::Zero(f);
  for (int64_t j = 0; j < n; j += lanes) {
    const VF s = hn::Mul(hn::LoadU(f, row + j), hn::Set(f, scale));
    poisoned = hn::Add(poisoned, hn::Mul(s, hn::Zero(f)));  // 0 · (Inf or NaN) is NaN
    hn::StoreU(round_lanes(dtype, s), f, row + j);
  }
  return hn::GetLane(hn::SumOfLanes(f, poisoned)) == 0;
}

void attend_naive_impl(const DecodedHead& head, const RowTile& tile, float scale, DType dtype, Accumulate accumulate,
                       Scratch& scratch) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t n = padded_visible(head, tile), keys = head.padded_keys, dim = head.padded_dim;
  float* scores = scratch.naive_scores.data();
  const float* q = tile.q.data();
  multiply_tile<float>([&](int64_t r, int64_t i) { return q[r * head.dim + i]; }, head.naive.k_transposed.data(), keys,
                       head.dim, n, scores, keys, accumulate);
  for (int64_t r = 0; r < kRowTile; ++r) {
    float* row = scores + r * keys;
    scratch.naive_scores_finite[r] = finish_scores(row, tile.visible[r], n, scale, dtype);
    const VF sum = hn::Set(f, tile.visible[r] > 0 ? exponentiate(row, tile.visible[r], n) : 1.0f);
    for (int64_t j = 0; j < n; j += lanes)
      hn::StoreU(round_lanes(dtype, hn::Div(hn::LoadU(f, row + j), sum)), f, row + j);
  }
  float* out = scratch.naive_out.data();
  multiply_tile<float>([&](int64_t r, int64_t i) { return scores[r * keys + i]; }, head.naive.v.data(), dim, n, dim,
                       out, dim, accumulate);
  for (int64_t c = 0; c < kRowTile * dim; c += lanes) hn::StoreU(round_lanes(dtype, hn::LoadU(f, out + c)), f, out + c);
}

}  // namespace attnscope::check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope::check {
HWY_EXPORT(attend_exact_impl);
HWY_EXPORT(attend_naive_impl);

void attend_exact(const DecodedHead& head, const RowTile& tile, double scale, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(attend_exact_impl)(head, tile, scale, scratch);
}

void attend_naive(const DecodedHead& head, const RowTile& tile, float scale, DType dtype, Accumulate accumulate,
                  Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(attend_naive_impl)(head, tile, scale, dtype, accumulate, scratch);
}
}  // namespace attnscope::check
#endif
