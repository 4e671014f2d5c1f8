// Random inputs, one vector of Philox blocks at a time. They are bit-identical on every machine and at every vector
// width, because the code uses only integer operations and IEEE additions, multiplications, divisions and square roots,
// each rounded once. The build turns floating-point contraction off for this file (app/CMakeLists.txt); inputs_test.cpp
// checks the bits at every SIMD level.
#include "check/inputs_simd.h"

#include "check/float_formats.h"
#include "check/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "check/inputs_simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
// Must follow foreach_target.h: highway.h is read once for each target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::check::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using U = hn::RebindToUnsigned<F>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VU = hn::Vec<U>;

// The two halves of the 64-bit products a·b of every lane.
HWY_INLINE void multiply_wide(VU a, VU b, VU& high, VU& low) {
#if HWY_TARGET == HWY_SCALAR
  const uint64_t product = uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  high = hn::Set(U(), static_cast<uint32_t>(product >> 32));
  low = hn::Set(U(), static_cast<uint32_t>(product));
#else
  const hn::RepartitionToWide<U> wide;
  const U u;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(u, hn::ShiftRight<32>(hn::BitCast(wide, a))),
                               hn::BitCast(u, hn::ShiftRight<32>(hn::BitCast(wide, b))));
  high = hn::OddEven(hn::BitCast(u, odd), hn::BitCast(u, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(u, hn::ShiftLeft<32>(odd)), hn::BitCast(u, even));
#endif
}

HWY_INLINE void philox(VU (&c)[4], uint32_t key_low, uint32_t key_high) {
  const U u;
  const VU m0 = hn::Set(u, kPhiloxMultiplier[0]), m1 = hn::Set(u, kPhiloxMultiplier[1]);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    VU high0, low0, high1, low1;
    multiply_wide(c[0], m0, high0, low0);
    multiply_wide(c[2], m1, high1, low1);
    c[0] = hn::Xor(hn::Xor(high1, c[1]), hn::Set(u, key_low));
    c[1] = low1;
    c[2] = hn::Xor(hn::Xor(high0, c[3]), hn::Set(u, key_high));
    c[3] = low0;
    key_low += kPhiloxWeyl[0];
    key_high += kPhiloxWeyl[1];
  }
}

// sqrt(-2 ln u) for u = (n + 1)·2^-24, n a 24-bit integer. ln of the mantissa m in [sqrt ½, sqrt 2) is the series of
// 2·atanh((m-1)/(m+1)): s ≤ 0.172, and the first term left out is under 2e-9.
HWY_INLINE VF radius(VU n) {
  const F f;
  const U u;
  const I i;
  const VF x = hn::ConvertTo(f, hn::BitCast(i, hn::Add(n, hn::Set(u, 1))));  // exact: at most 2^24
  const VU bits = hn::BitCast(u, x);
  const VU offset = hn::Sub(bits, hn::Set(u, 0x3f3504f3u));  // the bits of sqrt ½
  const auto exponent = hn::ShiftRight<23>(hn::BitCast(i, offset));
  const VF m = hn::BitCast(f, hn::Add(hn::And(offset, hn::Set(u, 0x007fffffu)), hn::Set(u, 0x3f3504f3u)));
  const VF one = hn::Set(f, 1.0f);
  const VF s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const VF z = hn::Mul(s, s);
  VF series = hn::Set(f, 1.0f / 9.0f);
  series = hn::Add(hn::Mul(series, z), hn::Set(f, 1.0f / 7.0f));
  series = hn::Add(hn::Mul(series, z), hn::Set(f, 1.0f / 5.0f));
  series = hn::Add(hn::Mul(series, z), hn::Set(f, 1.0f / 3.0f));
  series = hn::Add(hn::Mul(series, z), one);
  const VF log_m = hn::Mul(hn::Add(s, s), series);
  const VF e = hn::ConvertTo(f, hn::Sub(exponent, hn::Set(i, 24)));  // of u, not of x
  const VF log_u = hn::Add(hn::Mul(e, hn::Set(f, 0.693147180559945f)), log_m);
  return hn::Sqrt(hn::Mul(hn::Set(f, -2.0f), hn::Min(log_u, hn::Zero(f))));
}

// Sine and cosine of 2π·n·2^-24: integers remove whole quarter turns, Taylor series do the rest.
HWY_INLINE void turn(VU n, VF& sine, VF& cosine) {
  const F f;
  const U u;
  const I i;
  const VU quarter = hn::ShiftRight<22>(hn::Add(n, hn::Set(u, 1u << 21)));  // 0…4
  const auto rest = hn::Sub(hn::BitCast(i, n), hn::BitCast(i, hn::ShiftLeft<22>(quarter)));
  const VF a = hn::Mul(hn::ConvertTo(f, rest), hn::Set(f, 6.283185307179586f * 0x1p-24f));  // |a| ≤ π/4
  const VF z = hn::Mul(a, a);
  VF s = hn::Set(f, 1.0f / 362880.0f);
  s = hn::Sub(hn::Mul(s, z), hn::Set(f, 1.0f / 5040.0f));
  s = hn::Add(hn::Mul(s, z), hn::Set(f, 1.0f / 120.0f));
  s = hn::Sub(hn::Mul(s, z), hn::Set(f, 1.0f / 6.0f));
  s = hn::Add(hn::Mul(hn::Mul(s, z), a), a);
  VF c = hn::Set(f, 1.0f / 40320.0f);
  c = hn::Sub(hn::Mul(c, z), hn::Set(f, 1.0f / 720.0f));
  c = hn::Add(hn::Mul(c, z), hn::Set(f, 1.0f / 24.0f));
  c = hn::Sub(hn::Mul(c, z), hn::Set(f, 0.5f));
  c = hn::Add(hn::Mul(c, z), hn::Set(f, 1.0f));
  // Quarter q turns (cos, sin) by q·90°: swap when q is odd; bit 1 of q + 1 gives the cosine's sign, bit 1 of q the
  // sine's.
  const auto odd = hn::MaskFromVec(hn::BitCast(f, hn::Sub(hn::Zero(u), hn::And(quarter, hn::Set(u, 1)))));
  const VF sine_sign = hn::BitCast(f, hn::ShiftLeft<30>(hn::And(quarter, hn::Set(u, 2))));
  const VF cosine_sign = hn::BitCast(f, hn::ShiftLeft<30>(hn::And(hn::Add(quarter, hn::Set(u, 1)), hn::Set(u, 2))));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), sine_sign);
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), cosine_sign);
}

HWY_INLINE void to_values(Distribution distribution, const VU (&c)[4], VF (&out)[4]) {
  const F f;
  const I i;
  if (distribution == Distribution::uniform) {
    for (int word = 0; word < 4; ++word)
      out[word] = hn::Sub(hn::Mul(hn::ConvertTo(f, hn::BitCast(i, hn::ShiftRight<8>(c[word]))), hn::Set(f, 0x1p-23f)),
                          hn::Set(f, 1.0f));
    return;
  }
  const VF spread = hn::Set(f, distribution == Distribution::large ? 8.0f : 1.0f);  // exact: a power of two
  for (int pair = 0; pair < 4; pair += 2) {
    const VF r = hn::Mul(radius(hn::ShiftRight<8>(c[pair])), spread);
    VF sine, cosine;
    turn(hn::ShiftRight<8>(c[pair + 1]), sine, cosine);
    out[pair] = hn::Mul(r, cosine);
    out[pair + 1] = hn::Mul(r, sine);
  }
}

void generate_blocks_impl(Distribution distribution, uint64_t seed, uint32_t stream, uint64_t first, size_t blocks,
                          float* out) {
  const F f;
  const U u;
  const size_t lanes = hn::Lanes(f);
  HWY_ALIGN float tail[4 * hn::MaxLanes(F())];
  for (size_t done = 0; done < blocks; done += lanes) {
    const uint64_t block = first + done;
    const VU low = hn::Add(hn::Set(u, static_cast<uint32_t>(block)), hn::Iota(u, 0));
    const auto carried = hn::Lt(low, hn::Set(u, static_cast<uint32_t>(block)));
    const VU high = hn::Add(hn::Set(u, static_cast<uint32_t>(block >> 32)), hn::IfThenElseZero(carried, hn::Set(u, 1)));
    VU counter[4] = {low, high, hn::Set(u, stream), hn::Zero(u)};
    philox(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
    VF values[4];
    to_values(distribution, counter, values);
    if (blocks - done >= lanes) {
      hn::StoreInterleaved4(values[0], values[1], values[2], values[3], f, out + 4 * done);
    } else {
      hn::StoreInterleaved4(values[0], values[1], values[2], values[3], f, tail);
      std::memcpy(out + 4 * done, tail, (blocks - done) * 4 * sizeof(float));
    }
  }
}

// The vector form of f16_from_float and bf16_from_float.
HWY_INLINE VU encode(DType dtype, VF value) {
  const F f;
  const U u;
  const VU bits = hn::BitCast(u, value);
  if (dtype == DType::bf16) {
    const VU lsb = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
    return hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(u, 0x7fffu)), lsb));
  }
  const VU sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 0x8000u));
  const VU magnitude = hn::And(bits, hn::Set(u, 0x7fffffffu));
  const VU lsb = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 1));
  const VU normal =
      hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(magnitude, hn::Set(u, 0xfffu)), lsb), hn::Set(u, 0x38000000u)));
  const VF shifted = hn::Add(hn::BitCast(f, magnitude), hn::Set(f, 0.5f));
  const VU subnormal = hn::Sub(hn::BitCast(u, shifted), hn::Set(u, 0x3f000000u));
  const VU finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, 0x38800000u)), subnormal, normal);
  return hn::Or(sign, hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, 0x477ff000u)), finite, hn::Set(u, 0x7c00u)));
}

void encode_16_impl(DType dtype, const float* in, size_t count, uint16_t* out) {
  const F f;
  const I i;
  const hn::Rebind<uint16_t, F> narrow;
  const size_t lanes = hn::Lanes(f);
  size_t done = 0;
  for (; done + lanes <= count; done += lanes)
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(i, encode(dtype, hn::LoadU(f, in + done)))), narrow, out + done);
  for (; done < count; ++done) out[done] = dtype == DType::f16 ? f16_from_float(in[done]) : bf16_from_float(in[done]);
}

// The vector form of float_from_f16 and float_from_bf16.
HWY_INLINE VF decode(DType dtype, VU bits) {
  const F f;
  const U u;
  const I i;
  if (dtype == DType::bf16) return hn::BitCast(f, hn::ShiftLeft<16>(bits));
  const VU sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u, 0x8000u))), magnitude = hn::And(bits, hn::Set(u, 0x7fffu));
  const VU shifted = hn::ShiftLeft<13>(magnitude);
  const VU normal = hn::Add(shifted, hn::IfThenElse(hn::Gt(magnitude, hn::Set(u, 0x7bffu)), hn::Set(u, 0x70000000u),
                                                    hn::Set(u, 0x38000000u)));
  const VF subnormal = hn::Mul(hn::ConvertTo(f, hn::BitCast(i, magnitude)), hn::Set(f, 0x1p-24f));
  const VU value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, 0x400u)), hn::BitCast(u, subnormal), normal);
  return hn::BitCast(f, hn::Or(value, sign));
}

void decode_16_impl(DType dtype, const uint16_t* in, size_t count, float* out) {
  const F f;
  const U u;
  const hn::Rebind<uint16_t, F> narrow;
  const size_t lanes = hn::Lanes(f);
  size_t done = 0;
  for (; done + lanes <= count; done += lanes)
    hn::StoreU(decode(dtype, hn::PromoteTo(u, hn::LoadU(narrow, in + done))), f, out + done);
  for (; done < count; ++done) out[done] = dtype == DType::f16 ? float_from_f16(in[done]) : float_from_bf16(in[done]);
}

}  // namespace attnscope::check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope::check {
HWY_EXPORT(generate_blocks_impl);
HWY_EXPORT(encode_16_impl);
HWY_EXPORT(decode_16_impl);

void generate_blocks(Distribution distribution, uint64_t seed, uint32_t stream, uint64_t first, size_t blocks,
                     float* out) {
  if (distribution == Distribution::constant) {
    for (size_t i = 0; i < kElementsPerBlock * blocks; ++i) out[i] = 0.1f;
    return;
  }
  HWY_DYNAMIC_DISPATCH(generate_blocks_impl)(distribution, seed, stream, first, blocks, out);
}

void encode_16(DType dtype, const float* in, size_t count, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(encode_16_impl)(dtype, in, count, out);
}

void decode_16(DType dtype, const uint16_t* in, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_16_impl)(dtype, in, count, out);
}
}  // namespace attnscope::check
#endif
