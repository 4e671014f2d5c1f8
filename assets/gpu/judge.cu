// Compares an output with the fp64 reference, element by element, like compare() of app/check/verdict.cpp on the CPU
// (tests/unit/device compares the two). Each CTA writes its part of the figures; the host adds them in order, so the
// same output always gives the same figures.
//
// DTYPE (0 f16, 1 bf16, 2 f32; ATTN_T is the type) is a macro, as for every kernel.
#if DTYPE == 0
#include <cuda_fp16.h>
using Word = unsigned short;
__device__ float widen(Word x) { return __half2float(__ushort_as_half(x)); }
#elif DTYPE == 1
#include <cuda_bf16.h>
using Word = unsigned short;
__device__ float widen(Word x) { return __bfloat162float(__ushort_as_bfloat16(x)); }
#else
using Word = unsigned;
__device__ float widen(Word x) { return __uint_as_float(x); }
#endif

using Index = long long;
constexpr int kThreads = 128;
constexpr Index kNone = 0x7fffffffffffffffll;

struct Shape {
  Index heads, seq_q, dim;
  Index o_batch, o_head, o_row;            // strides, elements
  Index seq_k, masked, first_visible;      // masked: row i sees the keys below i + first_visible
  Index row_count, rows_total;             // rows of the reference; of the output
  double atol, rtol;
  unsigned poison;
};

// As declared in device/cuda/gpu_judge.cpp. Elements are numbered row by row of the reference (unwritten ones: of the
// output, as [batch, head, row, d]).
struct Part {
  Index elements, compared, outside, nonfinite, unwritten;
  Index faults[4], first[4];  // by check::Fault: never written, non-finite, masked row, outside
  Index first_unwritten, worst;
  double max_abs, sum_abs, difference, reference, output, product;
};

__device__ Index least(Index a, Index b) { return a < b ? a : b; }

__device__ void join(Part& a, const Part& b) {
  const bool b_is_worse = b.worst != kNone && (a.worst == kNone || b.max_abs > a.max_abs ||
                                               (b.max_abs == a.max_abs && b.worst < a.worst));
  if (b_is_worse) a.worst = b.worst, a.max_abs = b.max_abs;
  a.elements += b.elements, a.compared += b.compared, a.outside += b.outside;
  a.nonfinite += b.nonfinite, a.unwritten += b.unwritten;
  for (int fault = 0; fault < 4; ++fault) {
    a.faults[fault] += b.faults[fault];
    a.first[fault] = least(a.first[fault], b.first[fault]);
  }
  a.first_unwritten = least(a.first_unwritten, b.first_unwritten);
  a.sum_abs += b.sum_abs, a.difference += b.difference;
  a.reference += b.reference, a.output += b.output, a.product += b.product;
}

__device__ void note(Part& part, int fault, Index element) {
  ++part.faults[fault];
  part.first[fault] = least(part.first[fault], element);
}

__device__ bool is_nan(double x) { return x != x; }
__device__ bool is_inf(double x) { return x == x && x - x != 0; }

// ElementClass: 0 finite, 1 NaN, 2 +Inf, 3 -Inf.
__device__ double expected_of(double value, unsigned char of) {
  const double infinity = __longlong_as_double(0x7ff0000000000000ll);
  return of == 0 ? value : of == 1 ? infinity - infinity : of == 2 ? infinity : -infinity;
}

__device__ bool same_class(double expected, double got) {
  if (is_nan(expected) || is_nan(got)) return is_nan(expected) && is_nan(got);
  if (is_inf(expected) || is_inf(got)) return expected == got;
  return true;
}

__device__ Index offset_of(const Shape& s, Index row) {
  return row / s.seq_q / s.heads * s.o_batch + row / s.seq_q % s.heads * s.o_head + row % s.seq_q * s.o_row;
}

__device__ void compare(Part& part, const Shape& s, Index element, double expected, Word word, bool masked) {
  const double got = widen(word);
  ++part.elements;
  if (!same_class(expected, got)) {
    ++part.nonfinite, ++part.outside;
    if (word == static_cast<Word>(s.poison)) note(part, 0, element);
    else note(part, 1, element);
    return;
  }
  if (is_nan(expected) || is_inf(expected)) return;
  ++part.compared;
  const double error = fabs(got - expected);
  part.sum_abs += error;
  part.difference = fma(error, error, part.difference);
  part.reference = fma(expected, expected, part.reference);
  part.output = fma(got, got, part.output);
  part.product = fma(expected, got, part.product);
  if (part.worst == kNone || error > part.max_abs) part.worst = element, part.max_abs = error;
  if (masked && got != 0) note(part, 2, element);
  if (error > s.atol + s.rtol * fabs(expected)) ++part.outside, note(part, 3, element);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attnscope_judge(const Word* output, const Index* rows, const double* values, const unsigned char* classes, Part* parts,
                    Shape s) {
  __shared__ Part shared[kThreads];
  Part part{};
  for (Index& first : part.first) first = kNone;
  part.first_unwritten = part.worst = kNone;
  const Index stride = Index{kThreads} * gridDim.x, begin = blockIdx.x * Index{kThreads} + threadIdx.x;
  for (Index element = begin; element < s.row_count * s.dim; element += stride) {
    const Index row = rows[element / s.dim];
    const bool masked = s.masked && row % s.seq_q + s.first_visible <= 0;
    const double expected = expected_of(values[element], classes == nullptr ? 0 : classes[element]);
    compare(part, s, element, expected, output[offset_of(s, row) + element % s.dim], masked);
  }
  for (Index element = begin; element < s.rows_total * s.dim; element += stride) {
    if (output[offset_of(s, element / s.dim) + element % s.dim] != static_cast<Word>(s.poison)) continue;
    ++part.unwritten;
    part.first_unwritten = least(part.first_unwritten, element);
  }
  shared[threadIdx.x] = part;
  for (int half_way = kThreads / 2; half_way > 0; half_way /= 2) {
    __syncthreads();
    if (threadIdx.x < half_way) join(shared[threadIdx.x], shared[threadIdx.x + half_way]);
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}
