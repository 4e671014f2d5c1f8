// Measures, on the GPU it runs on, the latencies and per-SM throughputs that the latency model takes from
// DeviceSpec::rates (app/model/rates.h). Prints "name value" lines, clocks unless said otherwise.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 rates.cu -o rates && ./rates
//
// Latency: one warp, a chain in which each instruction needs the previous one, clock() around kSteps of them.
// Throughput: one CTA of 1024 threads on one SM, eight independent chains per thread, lanes per clock over the whole
// CTA.
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                  \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));        \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

namespace {

constexpr int kSteps = 512;
constexpr int kChains = 8;

enum class Op { ffma, shf_iadd, lop3, imad, hadd2_f32, hfma2, mufu_ex2, f2i, shfl, fmnmx };
const char* const kOpNames[] = {"ffma", "shf_then_iadd", "lop3", "imad", "hadd2_f32", "hfma2", "mufu_ex2", "f2i", "shfl", "fmnmx"};

template <Op op>
__device__ __forceinline__ void step(unsigned& x, unsigned y) {
  if constexpr (op == Op::ffma) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
  if constexpr (op == Op::shf_iadd) asm volatile("{.reg .u32 t; shf.l.wrap.b32 t, %0, %1, 7; add.u32 %0, t, %1;}" : "+r"(x) : "r"(y));
  if constexpr (op == Op::lop3) asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(x) : "r"(y));
  if constexpr (op == Op::imad) asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
  if constexpr (op == Op::hadd2_f32)
    asm volatile("{.reg .b16 l, h; mov.b32 {l, h}, %0; cvt.f32.f16 %0, l;}" : "+r"(x));
  if constexpr (op == Op::hfma2) asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
  if constexpr (op == Op::mufu_ex2) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(x));
  if constexpr (op == Op::f2i) asm volatile("cvt.rni.s32.f32 %0, %0;" : "+r"(x));
  if constexpr (op == Op::shfl) x = __shfl_xor_sync(0xffffffffu, x, 1);
  if constexpr (op == Op::fmnmx) asm volatile("max.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
}

template <Op op>
__global__ void latency(long long* clocks, unsigned* sink, unsigned y) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int warm = 0; warm < 2; ++warm) {
    const long long start = clock64();
#pragma unroll 128
    for (int i = 0; i < kSteps; ++i) step<op>(x, y);
    sink[threadIdx.x] = x;
    *clocks = clock64() - start;
  }
}

template <Op op>
__global__ void throughput(long long* clocks, unsigned* sink, unsigned y) {
  unsigned x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = threadIdx.x + c;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < kSteps / 32; ++i) {
#pragma unroll
    for (int inner = 0; inner < 32; ++inner)
#pragma unroll
      for (int c = 0; c < kChains; ++c) step<op>(x[c], y);
  }
  __syncthreads();
  const long long end = clock64();
  unsigned sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  sink[threadIdx.x] = sum;
  if (threadIdx.x == 0) *clocks = end - start;
}

// A pointer chase of 4-byte words: in shared memory, or in `next` (as large as the cache level to measure).
__global__ void chase_shared(long long* clocks, unsigned* sink, unsigned stride) {
  __shared__ unsigned next[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) next[i] = ((i + stride) % 8192) * 4;
  __syncthreads();
  if (threadIdx.x) return;
  unsigned at = 0;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(next));
  const long long start = clock64();
#pragma unroll 64
  for (int i = 0; i < kSteps; ++i) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(base + at));
  *clocks = clock64() - start;
  *sink = at;
}

__global__ void chase_global(long long* clocks, unsigned long long* sink, unsigned long long* next, int steps, bool cached) {
  unsigned long long* at = next;
  if (cached)
    for (int i = 0; i < steps; ++i) asm volatile("ld.global.u64 %0, [%1];" : "=l"(at) : "l"(at));
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    if (cached) asm volatile("ld.global.u64 %0, [%1];" : "=l"(at) : "l"(at));
    else asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(at) : "l"(at));
  }
  *clocks = clock64() - start;
  *sink = reinterpret_cast<unsigned long long>(at);
}

// Shared loads of `bytes` per lane with lanes `stride` bytes apart, `warps` warps, four independent loads at a time:
// clocks for one warp load of the CTA.
template <int bytes>
__global__ void shared_throughput(long long* clocks, unsigned* sink, unsigned stride, unsigned zero) {
  extern __shared__ unsigned char tile[];
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + threadIdx.x % 32 * stride;
  unsigned sum = 0;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < kSteps / 16; ++i, base += zero) {  // unknown to the compiler, or it would load only once
#pragma unroll
    for (int inner = 0; inner < 16; ++inner) {
      unsigned a = 0, b = 0, c = 0, d = 0;
      if (bytes == 2) asm volatile("{.reg .u16 h; ld.shared.u16 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(a) : "r"(base + inner * 16));
      if (bytes == 4) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(base + inner * 16));
      if (bytes == 8) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(base + inner * 16));
      if (bytes == 16)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(base + inner * 16));
      sum += a ^ b ^ c ^ d;
    }
  }
  __syncthreads();
  const long long end = clock64();
  sink[threadIdx.x] = sum;
  if (threadIdx.x == 0) *clocks = end - start;
}

// Global loads with lanes `stride` bytes apart, all from a few kilobytes that the first-level cache holds.
__global__ void l1_throughput(long long* clocks, unsigned* sink, const unsigned char* data, unsigned stride,
                              unsigned zero) {
  const unsigned char* base = data + threadIdx.x % 32 * stride;
  unsigned sum = 0;
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < kSteps / 16; ++i, base += zero) {
#pragma unroll
      for (int inner = 0; inner < 16; ++inner) {
        unsigned short a;
        asm volatile("ld.global.u16 %0, [%1];" : "=h"(a) : "l"(base + inner * 2));
        sum += a;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) *clocks = clock64() - start;
  }
  sink[threadIdx.x] = sum;
}

__global__ void barrier(long long* clocks) {
  __syncthreads();
  const long long start = clock64();
#pragma unroll 32
  for (int i = 0; i < kSteps; ++i) __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
}

// Two warps that load with 32-way conflicts: warp 0 and warp `other`. On one sub-partition they share its port to the
// shared-memory pipe, on two they do not.
__global__ void two_warps(long long* clocks, unsigned* sink, unsigned other, unsigned zero) {
  __shared__ unsigned tile[2048];
  const unsigned warp = threadIdx.x / 32;
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + threadIdx.x % 32 * 128;
  unsigned sum = 0;
  __syncthreads();
  const long long start = clock64();
  if (warp == 0 || warp == other) {
#pragma unroll 1
    for (int i = 0; i < kSteps / 16; ++i, base += zero)
#pragma unroll
      for (int inner = 0; inner < 16; ++inner) {
        unsigned a;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(base + inner * 4));
        sum += a;
      }
    sink[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
}

// Which warp slots the CTAs of an SM got.
__global__ void slots(unsigned* out) {
  extern __shared__ unsigned char big[];
  unsigned sm, slot;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = sm << 8 | slot;
  const long long start = clock64();
  while (clock64() - start < 200000) {
  }
  if (out[0] == 1) big[threadIdx.x] = 1;
}

// A loop of `size` independent FFMAs: clocks per instruction once the body outgrows the instruction caches. Every warp
// of the CTA runs it.
template <int size>
__global__ void fetch(long long* clocks, unsigned* sink, unsigned y) {
  unsigned x[8];
  for (int c = 0; c < 8; ++c) x[c] = threadIdx.x + c;
  long long start = 0;
#pragma unroll 1
  for (int i = 0; i < 9; ++i) {
    if (i == 1) start = clock64();  // the first round fills the caches
#pragma unroll
    for (int inner = 0; inner < size / 8; ++inner)
#pragma unroll
      for (int c = 0; c < 8; ++c) step<Op::ffma>(x[c], y);
  }
  const long long end = clock64();
  unsigned sum = 0;
  for (int c = 0; c < 8; ++c) sum += x[c];
  sink[threadIdx.x] = sum;
  if (threadIdx.x == 0) *clocks = end - start;
}

// A loop whose body is one dependent FFMA and the jump back.
__global__ void jump_back(long long* clocks, unsigned* sink, unsigned y, int rounds) {
  unsigned x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) step<Op::ffma>(x, y);
  *clocks = clock64() - start;
  sink[threadIdx.x] = x;
}

__global__ void empty() {}

// Reads `bytes` again and again from every SM: second-level bandwidth if they fit there.
__global__ void stream(const uint4* data, size_t count, int rounds, unsigned* sink) {
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round)
    for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(data + i));
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  if (sum == 12345) *sink = sum;
}

long long* d_clocks;
unsigned* d_sink;

long long clocks() {
  CHECK(cudaDeviceSynchronize());
  long long value;
  CHECK(cudaMemcpy(&value, d_clocks, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

template <Op op>
void measure_op() {
  latency<op><<<1, 32>>>(d_clocks, d_sink, 3);
  std::printf("latency_%s %.2f\n", kOpNames[int(op)], double(clocks()) / kSteps);
  throughput<op><<<1, 1024>>>(d_clocks, d_sink, 3);
  throughput<op><<<1, 1024>>>(d_clocks, d_sink, 3);
  std::printf("lanes_per_clock_%s %.1f\n", kOpNames[int(op)], double(kSteps) * kChains * 1024 / double(clocks()));
}

template <int size>
void measure_fetch() {
  for (int warps : {1, 2, 4, 8}) {
    fetch<size><<<1, 32 * warps>>>(d_clocks, d_sink, 3);
    std::printf("fetch_%d_instructions_warps_%d %.2f clocks an instruction\n", size, warps, double(clocks()) / (8 * size));
  }
}

template <int bytes>
void measure_shared(unsigned stride) {
  CHECK(cudaFuncSetAttribute(shared_throughput<bytes>, cudaFuncAttributeMaxDynamicSharedMemorySize, 40000));
  for (int warps : {1, 2, 8}) {
    shared_throughput<bytes><<<1, 32 * warps, 32768>>>(d_clocks, d_sink, stride, 0);
    std::printf("shared_load_%d_stride_%u_warps_%d %.2f clocks a warp load\n", bytes, stride, warps,
                double(clocks()) / kSteps / warps);
  }
}

void chase(const char* name, size_t bytes, size_t stride, bool cached) {
  const size_t count = bytes / stride;
  std::vector<unsigned long long> links(bytes / 8);
  unsigned long long* d_links;
  CHECK(cudaMalloc(&d_links, bytes));
  // A fixed permutation, so that no prefetcher and no open page helps.
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  unsigned long long state = 88172645463325252ull;
  for (size_t i = count - 1; i > 0; --i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::swap(order[i], order[state % (i + 1)]);
  }
  for (size_t i = 0; i < count; ++i)
    links[order[i] * stride / 8] = reinterpret_cast<unsigned long long>(d_links) + order[(i + 1) % count] * stride;
  CHECK(cudaMemcpy(d_links, links.data(), bytes, cudaMemcpyHostToDevice));
  const int steps = static_cast<int>(std::min<size_t>(count, 20000));
  // Twice over what a cache should hold; to measure memory itself, the second start is far from the first.
  for (size_t first : {size_t{0}, steps < static_cast<int>(count) ? count / 2 : 0})
    chase_global<<<1, 1>>>(d_clocks, reinterpret_cast<unsigned long long*>(d_sink), d_links + order[first] * stride / 8,
                           steps, cached);
  std::printf("latency_%s %.1f\n", name, double(clocks()) / steps);
  CHECK(cudaFree(d_links));
}

double milliseconds(int repeats, void (*launch)()) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  launch();
  CHECK(cudaEventRecord(start));
  for (int i = 0; i < repeats; ++i) launch();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  return ms / repeats;
}

}  // namespace

// mma.sync m16n8k16 of fp16 into fp32: kSums independent sums per warp; each product needs the previous one of its sum.
template <int kSums>
__global__ void multiply_matrices(long long* clocks, unsigned* sink) {
  float c[kSums][4] = {};
  const unsigned a = 0x3c003c00u + threadIdx.x, b = 0x38003800u;
#pragma unroll 1
  for (int warm = 0; warm < 2; ++warm) {
    __syncthreads();
    const long long start = clock64();
#pragma unroll 16
    for (int i = 0; i < kSteps; ++i)
#pragma unroll
      for (int n = 0; n < kSums; ++n)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
            : "r"(a), "r"(b));
    __syncthreads();
    if (threadIdx.x == 0) *clocks = clock64() - start;
  }
  float sum = 0;
  for (int n = 0; n < kSums; ++n) sum += c[n][0] + c[n][1] + c[n][2] + c[n][3];
  sink[threadIdx.x] = __float_as_uint(sum);
}

template <int kSums>
void measure_mma() {
  for (int warps : {1, 4, 8, 16}) {
    multiply_matrices<kSums><<<1, 32 * warps>>>(d_clocks, d_sink);
    std::printf("mma_16816_sums_%d_warps_%d %.2f clocks a product and scheduler\n", kSums, warps,
                double(clocks()) / kSteps / kSums / std::max(1, warps / 4));
  }
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("device %s sm_%d%d %d SMs\n", device.name, device.major, device.minor, device.multiProcessorCount);
  CHECK(cudaMalloc(&d_clocks, 8));
  CHECK(cudaMalloc(&d_sink, 1 << 20));
  measure_op<Op::ffma>();
  measure_op<Op::shf_iadd>();
  measure_op<Op::lop3>();
  measure_op<Op::imad>();
  measure_op<Op::hadd2_f32>();
  measure_op<Op::hfma2>();
  measure_op<Op::mufu_ex2>();
  measure_op<Op::f2i>();
  measure_op<Op::shfl>();
  measure_op<Op::fmnmx>();
  measure_mma<1>(), measure_mma<2>(), measure_mma<4>(), measure_mma<8>();
  measure_fetch<64>(), measure_fetch<256>(), measure_fetch<512>(), measure_fetch<1024>(), measure_fetch<2048>();
  measure_fetch<4096>(), measure_fetch<8192>(), measure_fetch<16384>();
  jump_back<<<1, 32>>>(d_clocks, d_sink, 3, 4096);
  std::printf("loop_of_one_ffma %.2f clocks a round\n", double(clocks()) / 4096);
  chase_shared<<<1, 32>>>(d_clocks, d_sink, 33);
  std::printf("latency_shared %.2f\n", double(clocks()) / kSteps);
  measure_shared<2>(2), measure_shared<2>(128), measure_shared<4>(4), measure_shared<4>(128), measure_shared<8>(8);
  measure_shared<8>(0), measure_shared<8>(128), measure_shared<16>(16), measure_shared<16>(128);
  chase("l1", 16 << 10, 64, true);
  chase("l2", 4 << 20, 256, false);
  chase("dram", size_t{1} << 30, 4096, false);
  unsigned char* data;
  CHECK(cudaMalloc(&data, 8 << 20));
  for (unsigned stride : {0u, 2u, 32u, 64u, 128u, 256u})
    for (int warps : {1, 8, 32}) {
      l1_throughput<<<1, 32 * warps>>>(d_clocks, d_sink, data, stride, 0);
      std::printf("l1_load_2_stride_%u_warps_%d %.2f clocks a warp load\n", stride, warps, double(clocks()) / kSteps / warps);
    }
  for (int warps : {1, 4, 8, 32}) {
    barrier<<<1, 32 * warps>>>(d_clocks);
    std::printf("latency_barrier_warps_%d %.1f\n", warps, double(clocks()) / kSteps);
  }
  for (unsigned other : {0u, 1u, 2u, 3u, 4u, 5u, 8u}) {
    two_warps<<<1, 288>>>(d_clocks, d_sink, other, 0);
    std::printf("two_warps_0_and_%u %.1f clocks a load of each\n", other, double(clocks()) / kSteps);
  }
  CHECK(cudaFuncSetAttribute(slots, cudaFuncAttributeMaxDynamicSharedMemorySize, 110 << 10));
  for (int warps : {4, 6, 8}) {
    const int ctas = 2 * device.multiProcessorCount;
    slots<<<ctas, 32 * warps, 100 << 10>>>(d_sink);
    std::vector<unsigned> where(static_cast<size_t>(ctas * warps));
    CHECK(cudaMemcpy(where.data(), d_sink, where.size() * 4, cudaMemcpyDeviceToHost));
    for (int cta = 0; cta < ctas; ++cta) {
      if (where[static_cast<size_t>(cta * warps)] >> 8 != 0) continue;
      std::printf("slots_of_%d_warps cta %d:", warps, cta);
      for (int w = 0; w < warps; ++w) std::printf(" %u", where[static_cast<size_t>(cta * warps + w)] & 255);
      std::printf("\n");
    }
  }
  static const uint4* stream_data = reinterpret_cast<const uint4*>(data);
  static int sms = device.multiProcessorCount;
  const double ms = milliseconds(5, [] { stream<<<4 * sms, 512>>>(stream_data, (8 << 20) / 16, 50, d_sink); });
  std::printf("l2_gbs %.0f\n", 50.0 * (8 << 20) / ms * 1e-6);
  std::printf("empty_kernels_back_to_back_us %.2f\n", 1e3 * milliseconds(200, [] { empty<<<1, 32>>>(); }));
  std::printf("empty_grid_of_100000_ctas_us %.2f\n", 1e3 * milliseconds(20, [] { empty<<<100000, 128>>>(); }));
  int clock_khz = 0;
  CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  std::printf("clock_mhz %.0f\n", clock_khz * 1e-3);
  return 0;
}
