// A problem's inputs, made on the GPU: the same bits as app/check/inputs_simd.cpp makes on the CPU. Every step is an
// integer operation or one IEEE operation with explicit rounding, so that no compiler fuses two.
//
// DTYPE (0 f16, 1 bf16, 2 f32; ATTN_T is the type) is a macro, as for every kernel.
#if DTYPE == 0
#include <cuda_fp16.h>
using Word = unsigned short;
__device__ Word word_of(float x) { return __half_as_ushort(__float2half_rn(x)); }
#elif DTYPE == 1
#include <cuda_bf16.h>
using Word = unsigned short;
__device__ Word word_of(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
#else
using Word = unsigned;
__device__ Word word_of(float x) { return __float_as_uint(x); }
#endif

using Index = long long;
constexpr int kThreads = 256;

enum Distribution { normal, uniform, large, constant };

__device__ float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ float sub(float a, float b) { return __fsub_rn(a, b); }

// Philox4x32-10; see app/check/philox.h.
__device__ void philox(unsigned (&c)[4], unsigned key_low, unsigned key_high) {
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
    const unsigned high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
    c[0] = high1 ^ c[1] ^ key_low;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key_high;
    c[3] = low0;
    key_low += 0x9E3779B9u;
    key_high += 0xBB67AE85u;
  }
}

// sqrt(-2 ln u) for u = (n + 1)·2^-24.
__device__ float radius(unsigned n) {
  const unsigned bits = __float_as_uint(__int2float_rn(static_cast<int>(n + 1)));
  const unsigned offset = bits - 0x3f3504f3u;  // the bits of sqrt ½
  const int exponent = static_cast<int>(offset) >> 23;
  const float m = __uint_as_float((offset & 0x007fffffu) + 0x3f3504f3u);
  const float s = __fdiv_rn(sub(m, 1.0f), add(m, 1.0f));
  const float z = mul(s, s);
  float series = 1.0f / 9.0f;
  series = add(mul(series, z), 1.0f / 7.0f);
  series = add(mul(series, z), 1.0f / 5.0f);
  series = add(mul(series, z), 1.0f / 3.0f);
  series = add(mul(series, z), 1.0f);
  const float log_m = mul(add(s, s), series);
  const float log_u = add(mul(__int2float_rn(exponent - 24), 0.693147180559945f), log_m);
  return __fsqrt_rn(mul(-2.0f, log_u < 0.0f ? log_u : 0.0f));
}

// Sine and cosine of 2π·n·2^-24.
__device__ void turn(unsigned n, float& sine, float& cosine) {
  const unsigned quarter = (n + (1u << 21)) >> 22;  // 0…4
  const int rest = static_cast<int>(n) - static_cast<int>(quarter << 22);
  const float a = mul(__int2float_rn(rest), 6.283185307179586f * 5.9604644775390625e-8f);  // 2π·2^-24
  const float z = mul(a, a);
  float s = 1.0f / 362880.0f;
  s = sub(mul(s, z), 1.0f / 5040.0f);
  s = add(mul(s, z), 1.0f / 120.0f);
  s = sub(mul(s, z), 1.0f / 6.0f);
  s = add(mul(mul(s, z), a), a);
  float c = 1.0f / 40320.0f;
  c = sub(mul(c, z), 1.0f / 720.0f);
  c = add(mul(c, z), 1.0f / 24.0f);
  c = sub(mul(c, z), 0.5f);
  c = add(mul(c, z), 1.0f);
  const bool odd = quarter & 1;
  sine = __uint_as_float(__float_as_uint(odd ? c : s) ^ (quarter & 2) << 30);
  cosine = __uint_as_float(__float_as_uint(odd ? s : c) ^ ((quarter + 1) & 2) << 30);
}

__device__ void values_of(const unsigned (&c)[4], int distribution, float (&out)[4]) {
  if (distribution == constant) {
    for (float& x : out) x = 0.1f;
  } else if (distribution == uniform) {
    for (int word = 0; word < 4; ++word)
      out[word] = sub(mul(__int2float_rn(static_cast<int>(c[word] >> 8)), 1.1920928955078125e-7f), 1.0f);
  } else {
    for (int pair = 0; pair < 4; pair += 2) {
      const float r = mul(radius(c[pair] >> 8), distribution == large ? 8.0f : 1.0f);
      float sine, cosine;
      turn(c[pair + 1] >> 8, sine, cosine);
      out[pair] = mul(r, cosine);
      out[pair + 1] = mul(r, sine);
    }
  }
}

struct Stream {
  Index elements, blocks;  // a block is four elements
  Index heads, seq, dim;
  Index rows_inside;  // [batch, head, row, d], else [batch, row, head, d]
  unsigned long long seed;
  unsigned number;  // the tensor's
  int distribution;
};

__device__ Index offset_of(const Stream& s, Index element) {
  if (s.rows_inside) return element;
  const Index row = element / s.dim, place = row % s.seq, head = row / s.seq % s.heads, batch = row / s.seq / s.heads;
  return ((batch * s.seq + place) * s.heads + head) * s.dim + element % s.dim;
}

// Makes a tensor or, if `differing` is given, counts its elements that differ from it. A thread takes blocks of four
// elements of the stream.
extern "C" __global__ void __launch_bounds__(kThreads)
    attnscope_inputs(Word* tensor, unsigned long long* differing, Stream s) {
  for (Index block = blockIdx.x * Index{kThreads} + threadIdx.x; block < s.blocks; block += Index{kThreads} * gridDim.x) {
    unsigned c[4] = {static_cast<unsigned>(block), static_cast<unsigned>(block >> 32), s.number, 0};
    philox(c, static_cast<unsigned>(s.seed), static_cast<unsigned>(s.seed >> 32));
    float values[4];
    values_of(c, s.distribution, values);
    for (int i = 0; i < 4; ++i) {
      const Index element = 4 * block + i;
      if (element >= s.elements) break;
      Word& at = tensor[offset_of(s, element)];
      const Word made = word_of(values[i]);
      if (differing == nullptr) at = made;
      else if (at != made) atomicAdd(differing, 1ull);
    }
  }
}
