// The SM clock while Tensor Cores multiply: clocks of clock64 for each nanosecond of globaltimer, read by every CTA around the same
// loop of FFMA, of mma.sync in fp16, tf32, int8 and fp64, and of FFMA with an mma now and then; for kernels of 10 us to 20 ms.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)
__device__ inline unsigned long long nanoseconds() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
enum { kFfma, kHalf, kTf32, kInt8, kDouble };
template <int kKind, int kEvery>
__global__ void work(unsigned long long* out, float* sink, int rounds) {
  float x[8]; float c[4] = {0, 0, 0, 0}; double d[2] = {0, 0}; int n[4] = {0, 0, 0, 0};
  for (int i = 0; i < 8; ++i) x[i] = threadIdx.x + i;
  const float y = sink[0];
  const unsigned a = __float_as_uint(y) & 0x3fff3fff; const double da = y;
  __syncthreads();
  const unsigned long long t0 = nanoseconds(); const long long c0 = clock64();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int i = 0; i < (kKind == kFfma ? 8 : kEvery); ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[i % 8]) : "f"(y));
      if (kKind == kHalf) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a));
      if (kKind == kTf32) asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a));
      if (kKind == kInt8) asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+r"(n[0]), "+r"(n[1]), "+r"(n[2]), "+r"(n[3]) : "r"(a));
      if (kKind == kDouble) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(da));
    }
  }
  const long long c1 = clock64(); const unsigned long long t1 = nanoseconds();
  if (threadIdx.x == 0) out[2 * blockIdx.x] = c1 - c0, out[2 * blockIdx.x + 1] = t1 - t0;
  float sum = c[0] + c[1] + c[2] + c[3] + float(d[0] + d[1]) + float(n[0] + n[1] + n[2] + n[3]);
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == 12345.678f) sink[1] = sum;
}
template <int kKind, int kEvery> void measure(const char* name, int sms, unsigned long long* out, float* sink) {
  for (const double us : {30.0, 300.0, 3000.0, 20000.0}) {
    int rounds = 64;
    std::vector<unsigned long long> got(2 * size_t(sms));
    double mhz = 0, took = 0;
    for (int again = 0; again < 6; ++again) {  // the first runs find how many rounds last so long
      work<kKind, kEvery><<<sms, 256>>>(out, sink, rounds);
      CHECK(cudaMemcpy(got.data(), out, 16 * size_t(sms), cudaMemcpyDeviceToHost));
      std::vector<double> each;
      took = 0;
      for (int s = 0; s < sms; ++s) { each.push_back(1e3 * double(got[2 * s]) / double(std::max(1ull, got[2 * s + 1]))); took = std::max(took, double(got[2 * s + 1]) * 1e-3); }
      std::sort(each.begin(), each.end());
      mhz = each[each.size() / 2];
      if (again < 3) rounds = std::max(1, int(rounds * us / std::max(1.0, took)));
    }
    // globaltimer may tick only every 1,024 ns or so: short kernels are averaged by launching many of them.
    cudaEvent_t begin, end; CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    const int times = std::max(1, int(40000 / us));
    CHECK(cudaEventRecord(begin)); for (int i = 0; i < times; ++i) work<kKind, kEvery><<<sms, 256>>>(out, sink, rounds); CHECK(cudaEventRecord(end)); CHECK(cudaEventSynchronize(end));
    float ms = 0; CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaMemcpy(got.data(), out, 16 * size_t(sms), cudaMemcpyDeviceToHost));
    std::vector<double> clocks; for (int s = 0; s < sms; ++s) clocks.push_back(double(got[2 * s]));
    std::sort(clocks.begin(), clocks.end());
    std::printf("%-22s kernel of %8.1f us: %7.1f MHz by globaltimer; %d in a row: %9.3f us each, %11.0f clocks each: at least %7.1f MHz\n", name, took, mhz, times, 1e3 * ms / times, clocks.back(), clocks.back() / (1e3 * ms / times));
  }
}
int main() {
  cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0));
  std::printf("device %s, %d SMs\n", p.name, p.multiProcessorCount);
  unsigned long long* out; float* sink;
  CHECK(cudaMalloc(&out, 16 * size_t(p.multiProcessorCount))); CHECK(cudaMalloc(&sink, 64)); CHECK(cudaMemset(sink, 0, 64));
  const int n = p.multiProcessorCount;
  measure<kFfma, 8>("ffma", n, out, sink);
  measure<kHalf, 0>("hmma", n, out, sink);
  measure<kHalf, 4>("hmma + 4 ffma", n, out, sink);
  measure<kHalf, 16>("hmma + 16 ffma", n, out, sink);
  measure<kHalf, 64>("hmma + 64 ffma", n, out, sink);
  measure<kTf32, 0>("tf32", n, out, sink);
  measure<kInt8, 0>("int8", n, out, sink);
  measure<kDouble, 0>("fp64 mma", n, out, sink);
  measure<kFfma, 8>("ffma again", n, out, sink);
  return 0;
}
