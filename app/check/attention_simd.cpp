// The arithmetic of the reference, compiled for each SIMD level and chosen at start. The fp64 results of two levels
// differ only by the order of additions (about 1e-16), far below any figure of a verdict.
#include "check/attention_simd.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "check/attention_simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
// Must follow foreach_target.h: these are read once for each target.
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::check::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;

// Rounds every lane to dtype: the vector form of round_to (float_formats.h).
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

// accumulator + a·b, rounded to the accumulating type. Products of halves are exact in fp32.
template <class V>
HWY_INLINE V accumulate_in(Accumulate type, V a, V b, V accumulator) {
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    if (type == Accumulate::f16) return round_lanes(DType::f16, hn::MulAdd(a, b, accumulator));
  }
  return hn::MulAdd(a, b, accumulator);
}

// Converts floats to T.
template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_as(const float* from) {
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(T) == sizeof(float))
    return hn::LoadU(d, from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), from));
}

// out[r][c] += Σ_i left[r][i] · right[i][c] for four rows and `columns` columns, a multiple of two vectors. Products
// are added in order, so a sum made in several calls equals the sum made in one.
template <class T>
HWY_INLINE void multiply_tile(const T* left, int64_t left_stride, const float* right, int64_t right_stride,
                              int64_t inner, int64_t columns, T* out, int64_t out_stride, Accumulate type) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *left1 = left + left_stride, *left2 = left1 + left_stride, *left3 = left2 + left_stride;
  for (int64_t c = 0; c < columns; c += 2 * lanes) {
    T *o0 = out + c, *o1 = o0 + out_stride, *o2 = o1 + out_stride, *o3 = o2 + out_stride;
    auto a0 = hn::LoadU(d, o0), a1 = hn::LoadU(d, o0 + lanes), b0 = hn::LoadU(d, o1), b1 = hn::LoadU(d, o1 + lanes);
    auto c0 = hn::LoadU(d, o2), c1 = hn::LoadU(d, o2 + lanes), d0 = hn::LoadU(d, o3), d1 = hn::LoadU(d, o3 + lanes);
    const float* column = right + c;
    for (int64_t i = 0; i < inner; ++i, column += right_stride) {
      const auto x0 = load_as<T>(column), x1 = load_as<T>(column + lanes);
      const auto w0 = hn::Set(d, left[i]), w1 = hn::Set(d, left1[i]);
      const auto w2 = hn::Set(d, left2[i]), w3 = hn::Set(d, left3[i]);
      a0 = accumulate_in(type, w0, x0, a0);
      a1 = accumulate_in(type, w0, x1, a1);
      b0 = accumulate_in(type, w1, x0, b0);
      b1 = accumulate_in(type, w1, x1, b1);
      c0 = accumulate_in(type, w2, x0, c0);
      c1 = accumulate_in(type, w2, x1, c1);
      d0 = accumulate_in(type, w3, x0, d0);
      d1 = accumulate_in(type, w3, x1, d1);
    }
    hn::StoreU(a0, d, o0);
    hn::StoreU(a1, d, o0 + lanes);
    hn::StoreU(b0, d, o1);
    hn::StoreU(b1, d, o1 + lanes);
    hn::StoreU(c0, d, o2);
    hn::StoreU(c1, d, o2 + lanes);
    hn::StoreU(d0, d, o3);
    hn::StoreU(d1, d, o3 + lanes);
  }
}

// Turns scores[0, n) into exp(score - max), zero from `visible` on, and returns their sum; n is a multiple of a vector.
template <class T>
HWY_INLINE T exponentiate(T* scores, int64_t visible, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = visible; j < n; ++j) scores[j] = -std::numeric_limits<T>::infinity();
  auto highest = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t j = 0; j < n; j += lanes) highest = hn::Max(highest, hn::LoadU(d, scores + j));
  highest = hn::MaxOfLanes(d, highest);
  const auto lowest = hn::Set(d, sizeof(T) == 8 ? T(-708) : T(-87));  // below this, exp is subnormal: taken as 0
  auto sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const auto x = hn::Sub(hn::LoadU(d, scores + j), highest);
    // A NaN score keeps its lane (the comparison is false), so the row becomes NaN as it must.
    const auto e = hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Exp(d, x));
    hn::StoreU(e, d, scores + j);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// The number of keys, padded, that the tile of four rows from `row` on sees.
int64_t padded_visible(const DecodedHead& head, const QueryRows& rows, int64_t row) {
  int64_t n = 0;
  for (int64_t r = row; r < row + kRowTile; ++r) n = std::max(n, rows.visible[static_cast<size_t>(r)]);
  return std::min(head.padded_keys, (n + kKeyTile - 1) / kKeyTile * kKeyTile);
}

// scores[r][j] = Σ_d q[r][d] · k[j][d], for the keys that each tile of rows sees.
template <class T>
HWY_INLINE void multiply_keys(const DecodedHead& head, const QueryRows& rows, const T* q, T* scores, Accumulate type) {
  for (int64_t row = 0; row < rows.rows(); ++row)
    std::fill_n(scores + row * head.padded_keys, padded_visible(head, rows, row / kRowTile * kRowTile), T(0));
  for (int64_t first = 0; first < head.padded_keys; first += kKeyBlock) {
    const float* block = head.k.data() + first * head.dim;
    for (int64_t row = 0; row < rows.rows(); row += kRowTile) {
      const int64_t columns = std::min(kKeyBlock, padded_visible(head, rows, row) - first);
      if (columns > 0)
        multiply_tile<T>(q + row * head.dim, head.dim, block, kKeyBlock, head.dim, columns,
                         scores + row * head.padded_keys + first, head.padded_keys, type);
    }
  }
}

// out[r][c] = Σ_j weights[r][j] · v[j][c].
template <class T>
HWY_INLINE void multiply_values(const DecodedHead& head, const QueryRows& rows, const T* weights, T* out,
                                Accumulate type) {
  std::fill_n(out, rows.rows() * head.padded_dim, T(0));
  for (int64_t first = 0; first < head.padded_keys; first += kKeyBlock) {
    for (int64_t row = 0; row < rows.rows(); row += kRowTile) {
      const int64_t keys = std::min(kKeyBlock, padded_visible(head, rows, row) - first);
      if (keys > 0)
        multiply_tile<T>(weights + row * head.padded_keys + first, head.padded_keys,
                         head.v.data() + first * head.padded_dim, head.padded_dim, keys, head.padded_dim,
                         out + row * head.padded_dim, head.padded_dim, type);
    }
  }
}

void weigh_exact_impl(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch) {
  const int64_t keys = head.padded_keys;
  scratch.q.assign(rows.q.begin(), rows.q.end());
  scratch.scores.resize(static_cast<size_t>(rows.rows() * keys));
  scratch.sums.assign(rows.visible.size(), 0.0);
  multiply_keys<double>(head, rows, scratch.q.data(), scratch.scores.data(), Accumulate::f32);
  for (int64_t r = 0; r < rows.rows(); ++r) {
    const int64_t n = padded_visible(head, rows, r / kRowTile * kRowTile),
                  visible = rows.visible[static_cast<size_t>(r)];
    double* row = scratch.scores.data() + r * keys;
    for (int64_t j = 0; j < n; ++j) row[j] *= scale;
    if (visible > 0)
      scratch.sums[static_cast<size_t>(r)] = exponentiate(row, visible, n);
    else
      std::fill_n(row, n, 0.0);
  }
}

void attend_exact_impl(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch) {
  const int64_t dim = head.padded_dim;
  weigh_exact_impl(head, rows, scale, scratch);
  scratch.out.resize(static_cast<size_t>(rows.rows() * dim));
  multiply_values<double>(head, rows, scratch.scores.data(), scratch.out.data(), Accumulate::f32);
  for (int64_t r = 0; r < rows.rows(); ++r) {
    double* out = scratch.out.data() + r * dim;
    const double sum = scratch.sums[static_cast<size_t>(r)], inverse = 1.0 / sum;
    for (int64_t c = 0; c < dim; ++c) out[c] = rows.visible[static_cast<size_t>(r)] > 0 ? out[c] * inverse : 0;
  }
}

// Scales and rounds one row of scores. Returns whether all were finite before rounding.
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

void attend_naive_impl(const DecodedHead& head, const QueryRows& rows, float scale, DType dtype, Accumulate accumulate,
                       Scratch& scratch) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t keys = head.padded_keys, dim = head.padded_dim;
  scratch.naive_scores.resize(static_cast<size_t>(rows.rows() * keys));
  scratch.naive_out.resize(static_cast<size_t>(rows.rows() * dim));
  scratch.naive_scores_finite.resize(rows.visible.size());
  multiply_keys<float>(head, rows, rows.q.data(), scratch.naive_scores.data(), accumulate);
  for (int64_t r = 0; r < rows.rows(); ++r) {
    const int64_t n = padded_visible(head, rows, r / kRowTile * kRowTile),
                  visible = rows.visible[static_cast<size_t>(r)];
    float* row = scratch.naive_scores.data() + r * keys;
    scratch.naive_scores_finite[static_cast<size_t>(r)] = finish_scores(row, visible, n, scale, dtype);
    const VF sum = hn::Set(f, visible > 0 ? exponentiate(row, visible, n) : 1.0f);
    for (int64_t j = 0; j < n; j += lanes)
      hn::StoreU(round_lanes(dtype, hn::Div(hn::LoadU(f, row + j), sum)), f, row + j);
  }
  float* out = scratch.naive_out.data();
  multiply_values<float>(head, rows, scratch.naive_scores.data(), out, accumulate);
  for (int64_t c = 0; c < rows.rows() * dim; c += lanes)
    hn::StoreU(round_lanes(dtype, hn::LoadU(f, out + c)), f, out + c);
}

}  // namespace attnscope::check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope::check {
HWY_EXPORT(weigh_exact_impl);
HWY_EXPORT(attend_exact_impl);
HWY_EXPORT(attend_naive_impl);

namespace {
int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
}  // namespace

void DecodedHead::resize(int64_t new_keys, int64_t new_dim, bool with_values) {
  keys = new_keys;
  dim = new_dim;
  padded_keys = round_up(keys, kKeyTile);
  padded_dim = with_values ? round_up(dim, kDimTile) : 0;
  k.assign(static_cast<size_t>(round_up(keys, kKeyBlock) * dim), 0.0f);
  v.assign(static_cast<size_t>(padded_keys * padded_dim), 0.0f);
}

void DecodedHead::put_keys(int64_t block, int64_t count, const float* rows) {
  constexpr int64_t kSquare = 16;  // floats per cache line
  float* to = k.data() + block * kKeyBlock * dim;
  for (int64_t s = 0; s < count; s += kSquare)
    for (int64_t d = 0; d < dim; d += kSquare)
      for (int64_t y = d; y < std::min(d + kSquare, dim); ++y)
        for (int64_t x = s; x < std::min(s + kSquare, count); ++x) to[y * kKeyBlock + x] = rows[x * dim + y];
}

void QueryRows::resize(int64_t rows, int64_t dim) {
  q.assign(static_cast<size_t>(rows * dim), 0.0f);
  visible.assign(static_cast<size_t>(rows), 0);
}

void weigh_exact(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(weigh_exact_impl)(head, rows, scale, scratch);
}

void attend_exact(const DecodedHead& head, const QueryRows& rows, double scale, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(attend_exact_impl)(head, rows, scale, scratch);
}

void attend_naive(const DecodedHead& head, const QueryRows& rows, float scale, DType dtype, Accumulate accumulate,
                  Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(attend_naive_impl)(head, rows, scale, dtype, accumulate, scratch);
}
}  // namespace attnscope::check
#endif
