// How long atomics take that meet at one address: in global memory, where the L2 makes the additions, and in the shared memory of one
// SM. Each line states the clocks per warp instruction and SM, and the additions per clock of all SMs that ran. Every figure is the
// difference between a long run and one of a third of it, so that launch and drain cancel. Lines of text on stdout.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

enum Op { s32, u32, u64, f32, f64, f16x2, max32, cas32, exch32 };
constexpr const char* kNames[] = {"s32", "u32", "u64", "f32", "f64", "f16x2", "max32", "cas32", "exch32"};
template <Op op> constexpr int kWidth = op == u64 || op == f64 ? 8 : 4;
// What a float's next addition flips: a sum that no longer changes would end a loop's retries.
template <Op op> __device__ constexpr unsigned signs() { return op == f32 ? 0x80000000u : op == f16x2 ? 0x8000u : 0u; }

// Lane l adds at (l < same ? 0 : l % distinct) * step, beyond its warp's target. Everything is known at run time only, so that
// ptxas cannot join the lanes' additions into one.
struct Pattern { int distinct, same, step, targets, apart; };

// In PTX, because the compiler decides by itself whether a result is used. `at` is an address of its state space.
template <Op op, bool used> __device__ unsigned long long global_atomic(unsigned long long at, unsigned value) {
  unsigned result = 0;
  unsigned long long wide = 0;
  if constexpr (op == s32 && used) asm volatile("atom.global.add.s32 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == s32 && !used) asm volatile("red.global.add.s32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
  if constexpr (op == u32 && used) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == u32 && !used) asm volatile("red.global.add.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
  if constexpr (op == max32 && used) asm volatile("atom.global.max.s32 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == max32 && !used) asm volatile("red.global.max.s32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
  if constexpr (op == u64 && used) asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(wide) : "l"(at), "l"((unsigned long long)value) : "memory");
  if constexpr (op == u64 && !used) asm volatile("red.global.add.u64 [%0], %1;" : : "l"(at), "l"((unsigned long long)value) : "memory");
  if constexpr (op == f32 && used) asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == f32 && !used) asm volatile("red.global.add.f32 [%0], %1;" : : "l"(at), "f"(__uint_as_float(value)) : "memory");
  if constexpr (op == f64 && used) asm volatile("atom.global.add.f64 %0, [%1], %2;" : "=l"(wide) : "l"(at), "d"((double)value) : "memory");
  if constexpr (op == f64 && !used) asm volatile("red.global.add.f64 [%0], %1;" : : "l"(at), "d"((double)value) : "memory");
  if constexpr (op == f16x2 && used) asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == f16x2 && !used) asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(at), "r"(value) : "memory");
  if constexpr (op == cas32) asm volatile("atom.global.cas.b32 %0, [%1], %2, %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  if constexpr (op == exch32) asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(result) : "l"(at), "r"(value) : "memory");
  return result + wide;
}

__device__ int lane_offset(const Pattern& pattern) {
  const int lane = threadIdx.x & 31;
  return (lane < pattern.same ? 0 : lane % pattern.distinct) * pattern.step;
}

template <Op op, bool used> __global__ void global_kernel(char* data, unsigned long long* sink, Pattern pattern, unsigned value, int rounds) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const auto at = (unsigned long long)data + lane_offset(pattern) + size_t(warp % pattern.targets) * pattern.apart;
  unsigned long long sum = 0;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += global_atomic<op, used>(at, value);
  if (used && sum == 0x123456789abcdef) *sink = sum;
}

// Each lane adds to a bin of its own choice, as a histogram of random values does.
template <Op op> __global__ void global_random(char* data, unsigned long long*, int bins, unsigned value, int rounds) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x = x * 1664525u + 1013904223u;
      global_atomic<op, false>((unsigned long long)data + size_t(__umulhi(x, unsigned(bins))) * kWidth<op>, value);
    }
}

// The compiler's own code: ATOMS, or a loop for the types that have none.
template <Op op, bool used> __device__ unsigned shared_atomic(char* at, unsigned value) {
  if constexpr (op == f32) return __float_as_uint(atomicAdd((float*)at, __uint_as_float(value)));
  if constexpr (op == f64) return unsigned(atomicAdd((double*)at, double(value)));
  if constexpr (op == f16x2) { const __half2 h = atomicAdd((__half2*)at, __half2half2(__ushort_as_half((unsigned short)value))); return __half_as_ushort(h.x); }
  if constexpr (op == u64) return unsigned(atomicAdd((unsigned long long*)at, (unsigned long long)value));
  if constexpr (op == max32) return atomicMax((int*)at, int(value));
  if constexpr (op == cas32) return atomicCAS((unsigned*)at, value, value);
  if constexpr (op == exch32) return atomicExch((unsigned*)at, value);
  if constexpr (op == u32) return atomicAdd((unsigned*)at, value);
  if constexpr (op == s32) return atomicAdd((int*)at, 1);  // a known 1: ATOMS.POPC.INC where the result is unused
  return 0;
}

template <Op op, bool used> __global__ void shared_kernel(char*, unsigned long long* sink, Pattern pattern, unsigned value, int rounds) {
  extern __shared__ __align__(16) char shared[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) ((int*)shared)[i] = 0;
  __syncthreads();
  char* const at = shared + lane_offset(pattern) + (threadIdx.x / 32) % pattern.targets * pattern.apart;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned got = shared_atomic<op, used>(at, i & 1 ? value ^ signs<op>() : value);
      if (used) sum += got;
    }
  __syncthreads();
  if (sum + ((unsigned*)shared)[threadIdx.x] == 0x12345678) *sink = sum;
}

template <Op op> __global__ void shared_random(char*, unsigned long long* sink, int bins, unsigned value, int rounds) {
  extern __shared__ __align__(16) char shared[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) ((int*)shared)[i] = 0;
  __syncthreads();
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x = x * 1664525u + 1013904223u;
      shared_atomic<op, false>(shared + __umulhi(x, unsigned(bins)) * kWidth<op>, i & 1 ? value ^ signs<op>() : value);
    }
  __syncthreads();
  if (((unsigned*)shared)[threadIdx.x] == 0x12345678) *sink = 1;
}

__global__ void clock_kernel(long long* out) {
  long long t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  const long long c0 = clock64();
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1)); while (t1 - t0 < 2000000);
  out[0] = t1 - t0, out[1] = clock64() - c0;
}

unsigned value_of(Op op) { return op == f32 ? 0x3f800000u : op == f16x2 ? 0x3c00u : 1u; }

char* data;
unsigned long long* sink;
double mhz;
int sms;
cudaEvent_t before, after;

template <class Kernel, class Shape> double us(Kernel kernel, int ctas, int warps, const Shape& shape, unsigned value, int rounds) {
  CHECK(cudaEventRecord(before));
  kernel<<<ctas, warps * 32, 32768>>>(data, sink, shape, value, rounds);
  CHECK(cudaEventRecord(after));
  CHECK(cudaEventSynchronize(after));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, before, after));
  return ms * 1e3;
}

// The time of one round, from a run of n rounds and one of 3n; the shortest of three each.
template <class Kernel, class Shape> double round_us(Kernel kernel, int ctas, int warps, const Shape& shape, unsigned value) {
  int rounds = 2;
  us(kernel, ctas, warps, shape, value, rounds);
  while (us(kernel, ctas, warps, shape, value, rounds) < 60 && rounds < 1 << 16) rounds *= 2;
  double one = 1e9, three = 1e9;
  for (int i = 0; i < 3; ++i) {
    one = std::min(one, us(kernel, ctas, warps, shape, value, rounds));
    three = std::min(three, us(kernel, ctas, warps, shape, value, 3 * rounds));
  }
  return (three - one) / (2 * rounds);
}

void print(double one_round, int ctas, int warps) {
  const double requests = 8.0 * ctas * warps, clocks = one_round * mhz;
  std::printf(" clocks %.2f additions %.3f\n", clocks * std::min(ctas, sms) / requests, requests * 32 / clocks);
}

template <Op op, bool used> void global(int ctas, int warps, Pattern pattern) {
  const double time = round_us(global_kernel<op, used>, ctas, warps, pattern, value_of(op));
  std::printf("global %s %s ctas %d warps %d distinct %d same %d step %d targets %d apart %d", used ? "atom" : "red", kNames[op], ctas, warps,
              pattern.distinct, pattern.same, pattern.step, pattern.targets, pattern.apart);
  print(time, ctas, warps);
}

template <Op op, bool used> void shared(int warps, Pattern pattern) {
  const double time = round_us(shared_kernel<op, used>, 1, warps, pattern, value_of(op));
  std::printf("shared %s %s warps %d distinct %d same %d step %d targets %d apart %d", used ? "used" : "unused", kNames[op], warps,
              pattern.distinct, pattern.same, pattern.step, pattern.targets, pattern.apart);
  print(time, 1, warps);
}

template <Op op, bool used> void global_all() {
  constexpr int width = kWidth<op>;
  for (int ctas : {sms, 1}) {
    for (int targets : {1, 2, 8, 64, 4096}) {
      global<op, used>(ctas, 32, {1, 32, width, targets, 128});  // all lanes of a warp at one address, each target in its line
      if (ctas > 1 && targets > 1 && targets <= 64) global<op, used>(ctas, 32, {1, 32, width, targets, width});  // targets side by side
      global<op, used>(ctas, 32, {32, 0, width, targets, 32 * width});  // each lane at an address of its own, side by side
    }
    for (int distinct : {2, 4, 8, 16}) global<op, used>(ctas, 32, {distinct, 0, width, 4096, 32 * width});
    for (int same : {4, 16, 24}) global<op, used>(ctas, 32, {32, same, width, 4096, 32 * width});
    global<op, used>(ctas, 32, {32, 0, 32, 4096, 1024});    // a sector each
    global<op, used>(ctas, 32, {32, 0, 128, 1024, 4096});   // a line each
    global<op, used>(ctas, 32, {32, 0, width, 1, 0});       // every warp the same 32 addresses
    global<op, used>(ctas, 32, {32, 0, 128, 1, 0});         // every warp the same 32 addresses, in 32 lines
    global<op, used>(ctas, 32, {2, 0, width, 1, 0});
    global<op, used>(ctas, 32, {8, 0, width, 1, 0});
  }
  for (int warps : {1, 4, 8}) global<op, used>(1, warps, {1, 32, width, 1, 128}), global<op, used>(1, warps, {32, 0, width, 64, 32 * width});
}

template <Op op> void global_bins() {
  for (int ctas : {sms, 1})
    for (int bins : {1, 2, 8, 64, 256, 4096, 1 << 20}) {
      const double time = round_us(global_random<op>, ctas, 32, bins, value_of(op));
      std::printf("global random %s ctas %d warps 32 bins %d", kNames[op], ctas, bins);
      print(time, ctas, 32);
    }
}

template <Op op> void shared_bins() {
  for (int warps : {8, 32})
    for (int bins : {1, 2, 8, 64, 256, 2048}) {
      const double time = round_us(shared_random<op>, 1, warps, bins, value_of(op));
      std::printf("shared random %s warps %d bins %d", kNames[op], warps, bins);
      print(time, 1, warps);
    }
}

template <Op op, bool used> void shared_all() {
  constexpr int width = kWidth<op>;
  for (int warps : {1, 4, 8, 32}) {
    for (int distinct : {1, 2, 4, 8, 16, 32}) shared<op, used>(warps, {distinct, 0, width, 1, 0});  // all warps the same addresses
    for (int distinct : {1, 4, 32}) shared<op, used>(warps, {distinct, 0, width, 32, 32 * width});  // each warp its own
    for (int same : {4, 16, 24}) shared<op, used>(warps, {32, same, width, 32, 32 * width});
    shared<op, used>(warps, {32, 0, 128, 1, 0});  // 32 addresses in one bank
    shared<op, used>(warps, {4, 0, 128, 1, 0});
    shared<op, used>(warps, {32, 0, 8, 1, 0});
  }
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  sms = device.multiProcessorCount;
  CHECK(cudaMalloc(&data, 16 << 20));
  CHECK(cudaMemset(data, 0, 16 << 20));
  CHECK(cudaMalloc(&sink, 64));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  long long* clocks;
  CHECK(cudaMallocManaged(&clocks, 16));
  clock_kernel<<<1, 1>>>(clocks);
  CHECK(cudaDeviceSynchronize());
  mhz = double(clocks[1]) / double(clocks[0]) * 1e3;
  std::printf("device %s sms %d mhz %.1f\n", device.name, sms, mhz);
  global_all<u32, false>(), global_all<u32, true>();
  global_all<f32, false>(), global_all<f32, true>();
  global_all<u64, false>(), global_all<u64, true>();
  global_all<f16x2, false>(), global_all<f16x2, true>();
  global_all<f64, false>(), global_all<s32, false>(), global_all<max32, false>();
  global_all<cas32, true>(), global_all<exch32, true>();
  global_bins<u32>(), global_bins<f32>(), global_bins<u64>(), global_bins<f16x2>();
  std::fflush(stdout);
  shared_all<s32, false>(), shared_all<s32, true>();
  shared_all<u32, false>(), shared_all<u32, true>();
  shared_all<max32, false>(), shared_all<cas32, true>(), shared_all<exch32, true>();
  shared_all<f32, false>(), shared_all<f32, true>();
  shared_all<u64, false>(), shared_all<f64, false>(), shared_all<f16x2, false>();
  shared_bins<s32>(), shared_bins<u32>(), shared_bins<f32>(), shared_bins<u64>();
  CHECK(cudaDeviceSynchronize());
}
