// The fp64 attention that outputs are compared with, and two naive ones, one query row at a time: the same figures as
// app/check/reference.cpp makes on the CPU (tests/gpu compares the two). Deliberately simple: it is the measure, so it
// must be right at a glance; it runs once per problem.
//
// HEAD_DIM and DTYPE (0 f16, 1 bf16, 2 f32; ATTN_T is the type) are macros, as for every kernel; ACCUMULATE_F16 is 1 when the
// kernel under test declares to accumulate in fp16.
#if DTYPE == 0
#include <cuda_fp16.h>
__device__ float widen(half x) { return __half2float(x); }
__device__ float keep(float x) { return __half2float(__float2half_rn(x)); }
#elif DTYPE == 1
#include <cuda_bf16.h>
__device__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float keep(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
#else
__device__ float widen(float x) { return x; }
__device__ float keep(float x) { return x; }
#endif
#if ACCUMULATE_F16
#include <cuda_fp16.h>
__device__ float add(float sum, float a, float b) { return __half2float(__float2half_rn(fmaf(a, b, sum))); }
#else
__device__ float add(float sum, float a, float b) { return fmaf(a, b, sum); }
#endif

using Index = long long;
constexpr int kThreads = 192;

struct Shape {
  Index heads, group;                           // query heads; query heads a key head
  Index seq_q, seq_k;
  Index q_batch, q_head, q_row;                 // strides of q, elements
  Index k_batch, k_head, k_row;                 // strides of k and v, elements
  Index masked, first_visible;                  // masked: row i sees the keys below i + first_visible, else all
  Index row_count;
  double scale;
};

__device__ Index visible_keys(const Shape& s, Index i) {
  if (!s.masked) return s.seq_k;
  const Index keys = i + s.first_visible;
  return keys < 0 ? 0 : keys < s.seq_k ? keys : s.seq_k;
}

// The larger; NaN if either is NaN.
template <class T>
__device__ T larger(T a, T b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}

template <class T, class Join>
__device__ T over_block(T value, T* shared, Join join) {
  __syncthreads();
  shared[threadIdx.x] = value;
  for (int half_way = 128; half_way > 0; half_way /= 2) {
    __syncthreads();
    const int other = threadIdx.x + half_way;
    if (threadIdx.x < half_way && other < kThreads) shared[threadIdx.x] = join(shared[threadIdx.x], shared[other]);
  }
  __syncthreads();
  return shared[0];
}

// Turns the scores of one attention into probabilities that are not yet divided; returns their sum.
template <class T, class Exp>
__device__ T exponentiate(T* scores, Index keys, T* shared, Exp exponential) {
  T highest = -__int_as_float(0x7f800000);
  for (Index j = threadIdx.x; j < keys; j += kThreads) highest = larger(highest, scores[j]);
  highest = over_block(highest, shared, [](T a, T b) { return larger(a, b); });
  T sum = 0;
  for (Index j = threadIdx.x; j < keys; j += kThreads) sum += scores[j] = exponential(scores[j] - highest);
  return over_block(sum, shared, [](T a, T b) { return a + b; });
}

__device__ unsigned char class_of(float x) {
  if (x != x) return 1;
  const float infinity = __int_as_float(0x7f800000);
  return x == infinity ? 2 : x == -infinity ? 3 : 0;
}

// Each CTA takes rows blockIdx.x, blockIdx.x + gridDim.x, … of `rows` (row ids (b·heads + h)·seq_q + i) and has its own
// part of `scratch`: seq_k doubles and 2·seq_k floats. values and classes are [row_count][HEAD_DIM]; errors
// [row_count][2] has the squares of (rounded naive - exact) and of exact; *nonfinite counts elements whose class is not
// finite.
extern "C" __global__ void __launch_bounds__(kThreads)
    attnscope_reference(const ATTN_T* q, const ATTN_T* k, const ATTN_T* v, const Index* rows, double* scratch, double* values,
                        unsigned char* classes, double* errors, unsigned long long* nonfinite, Shape s) {
  __shared__ double shared_exact[kThreads];
  __shared__ float shared_naive[kThreads];
  __shared__ double exact_row[HEAD_DIM];
  __shared__ float rounded_row[HEAD_DIM];
  double* exact = scratch + blockIdx.x * 2 * s.seq_k;
  float* rounded = reinterpret_cast<float*>(exact + s.seq_k);
  float* plain = rounded + s.seq_k;

  for (Index r = blockIdx.x; r < s.row_count; r += gridDim.x) {
    const Index row = rows[r], i = row % s.seq_q, h = row / s.seq_q % s.heads, b = row / s.seq_q / s.heads;
    const ATTN_T* q_row = q + b * s.q_batch + h * s.q_head + i * s.q_row;
    const ATTN_T* k_head = k + b * s.k_batch + h / s.group * s.k_head;
    const ATTN_T* v_head = v + b * s.k_batch + h / s.group * s.k_head;
    const Index keys = visible_keys(s, i);

    for (Index j = threadIdx.x; j < keys; j += kThreads) {
      const ATTN_T* k_row = k_head + j * s.k_row;
      double wide = 0;
      float naive = 0, single = 0;
      for (int d = 0; d < HEAD_DIM; ++d) {
        const float x = widen(q_row[d]), y = widen(k_row[d]);
        wide = fma(double(x), double(y), wide);
        naive = add(naive, x, y);
        single = fmaf(x, y, single);
      }
      exact[j] = wide * s.scale;
      rounded[j] = keep(naive * float(s.scale));
      plain[j] = single * float(s.scale);
    }
    const double exact_sum = exponentiate(exact, keys, shared_exact, [](double x) { return exp(x); });
    const float rounded_sum = exponentiate(rounded, keys, shared_naive, [](float x) { return expf(x); });
    const float plain_sum = exponentiate(plain, keys, shared_naive, [](float x) { return expf(x); });

    // Threads take columns: first those of the exact row, then the rounded one's, then the plain one's.
    for (int c = threadIdx.x; c < 3 * HEAD_DIM; c += kThreads) {
      const int d = c % HEAD_DIM;
      if (c < HEAD_DIM) {
        double sum = 0;
        for (Index j = 0; j < keys; ++j) sum = fma(exact[j], double(widen(v_head[j * s.k_row + d])), sum);
        exact_row[d] = values[r * HEAD_DIM + d] = keys > 0 ? sum / exact_sum : 0;
      } else if (c < 2 * HEAD_DIM) {
        float sum = 0;
        for (Index j = 0; j < keys; ++j) sum = add(sum, keep(rounded[j] / rounded_sum), widen(v_head[j * s.k_row + d]));
        rounded_row[d] = keep(sum);
      } else {
        float sum = 0;
        for (Index j = 0; j < keys; ++j) sum = fmaf(plain[j] / plain_sum, widen(v_head[j * s.k_row + d]), sum);
        const unsigned char of = class_of(keep(sum));
        classes[r * HEAD_DIM + d] = of;
        if (of != 0) atomicAdd(nonfinite, 1ull);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      double difference = 0, norm = 0;
      for (int d = 0; d < HEAD_DIM; ++d) {
        const double error = double(rounded_row[d]) - exact_row[d];
        difference += error * error;
        norm += exact_row[d] * exact_row[d];
      }
      errors[2 * r] = difference;
      errors[2 * r + 1] = norm;
    }
    __syncthreads();
  }
}
