// What an SM gets from the second level, launch and drain, instruction fetch of warps that are not in step.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)
__device__ __forceinline__ uint4 load_l2(const uint4* p) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
// Every CTA reads the same `bytes` over and over (`apart`: each its own), past the first level.
template <int kEach>
__global__ void stream(const uint4* data, size_t count, int rounds, int apart, long long* clocks, unsigned* sink) {
  const size_t n = blockDim.x;
  const uint4* mine = data + (apart ? size_t(blockIdx.x) * count : 0);
  unsigned sum = 0;
  long long start = 0;
#pragma unroll 1
  for (int r = -1; r < rounds; ++r) {
    if (r == 0) { __syncthreads(); start = clock64(); }
#pragma unroll 1
    for (size_t i = threadIdx.x; i + (kEach - 1) * n < count; i += kEach * n) {
      uint4 v[kEach];
#pragma unroll
      for (int k = 0; k < kEach; ++k) v[k] = load_l2(mine + i + k * n);
#pragma unroll
      for (int k = 0; k < kEach; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - start;
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// A tile of `count` uint4 is copied to shared memory by cp.async, then `work` clocks pass: what a flash-attention CTA does.
__global__ void bursts(const uint4* data, size_t count, size_t total, int rounds, int work, long long* clocks) {
  extern __shared__ uint4 tile[];
  long long spent = 0, start = clock64();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const uint4* from = data + (size_t(r) * count) % total;
    const long long begin = clock64();
    for (size_t i = threadIdx.x; i < count; i += blockDim.x)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(tile + i)), "l"(from + i));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    const long long end = clock64();
    spent += end - begin;
    if (work > 0) while (clock64() - end < work) {}
    __syncthreads();
  }
  if (threadIdx.x == 0) clocks[blockIdx.x] = spent, clocks[gridDim.x + blockIdx.x] = clock64() - start;
}
// A loop of kBody instructions; warp w begins w * skew clocks later.
template <int kBody>
__global__ void fetch(long long* clocks, unsigned* sink, int rounds, int skew) {
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = threadIdx.x + c;
  const float y = __uint_as_float(sink[0] & 0x3fffffff);
  long long start = 0;
#pragma unroll 1
  for (int r = -1; r < rounds; ++r) {
    if (r == 0) {
      __syncthreads();
      start = clock64();
      while (clock64() - start < (threadIdx.x / 32) * skew) {}
    }
#pragma unroll
    for (int i = 0; i < kBody / 8; ++i)
#pragma unroll
      for (int c = 0; c < 8; ++c) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(y));
  }
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  float sum = 0;
  for (int c = 0; c < 8; ++c) sum += x[c];
  sink[threadIdx.x] = __float_as_uint(sum);
}
long long* d_clocks; unsigned* d_sink; uint4* d_data; int sms;
template <int kBody> void measure_fetch() {
  for (int warps : {4, 8, 16, 32})
    for (int skew : {0, 37, 333, 1501}) {
      const int rounds = std::max(8, 65536 / kBody);
      long long c = 0;
      fetch<kBody><<<1, 32 * warps>>>(d_clocks, d_sink, rounds, skew);
      CHECK(cudaMemcpy(&c, d_clocks, 8, cudaMemcpyDeviceToHost));
      std::printf("fetch body %5d warps %2d skew %4d: %.3f clocks an instruction and scheduler (skew's own: %.3f)\n", kBody, warps, skew, double(c) / rounds / kBody / (warps / 4.0), double(warps - 1) * skew / rounds / kBody / (warps / 4.0));
    }
}
template <int kEach> void measure_stream(int ctas, int threads, size_t bytes, int apart) {
  const int rounds = 20;
  stream<kEach><<<ctas, threads>>>(d_data, bytes / 16, rounds, apart, d_clocks, d_sink);
  std::vector<long long> c(ctas); CHECK(cudaMemcpy(c.data(), d_clocks, 8 * ctas, cudaMemcpyDeviceToHost));
  std::sort(c.begin(), c.end());
  std::printf("l2 %3d CTAs of %4d threads, %d loads each in flight, %7zu bytes %s: %.3f sectors a clock and CTA in the median, slowest %.3f\n", ctas, threads, kEach, bytes, apart ? "each its own" : "the same", double(rounds) * bytes / 32 / c[ctas / 2], double(rounds) * bytes / 32 / c[ctas - 1]);
}
__global__ void empty() {}
__global__ void spin(long long n) { const long long s = clock64(); while (clock64() - s < n) {} }
__global__ void spin_dynamic(long long n) { extern __shared__ int t[]; t[threadIdx.x] = 0; const long long s = clock64(); while (clock64() - s < n) {} }
template <class F> double graph_us(F launch, int n) {
  cudaStream_t s; CHECK(cudaStreamCreate(&s));
  cudaGraph_t g; cudaGraphExec_t x;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < n; ++i) launch(s);
  CHECK(cudaStreamEndCapture(s, &g)); CHECK(cudaGraphInstantiate(&x, g, 0));
  cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
  std::vector<float> times;
  for (int i = 0; i < 8; ++i) { CHECK(cudaEventRecord(a, s)); CHECK(cudaGraphLaunch(x, s)); CHECK(cudaEventRecord(b, s)); CHECK(cudaStreamSynchronize(s)); float ms; CHECK(cudaEventElapsedTime(&ms, a, b)); times.push_back(ms); }
  std::sort(times.begin(), times.end());
  return 1e3 * times[4] / n;
}
int main() {
  cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0)); sms = p.multiProcessorCount;
  std::printf("device %s, %d SMs\n", p.name, sms);
  CHECK(cudaMalloc(&d_clocks, 1 << 16)); CHECK(cudaMalloc(&d_sink, 4 << 20)); CHECK(cudaMemset(d_sink, 0, 4 << 20));
  CHECK(cudaMalloc(&d_data, 64 << 20)); CHECK(cudaMemset(d_data, 0, 64 << 20));
  for (int ctas : {1, 2, 4, 8, 16, 32, 64, 96, sms}) { measure_stream<4>(ctas, 1024, 2 << 20, 0); measure_stream<4>(ctas, 1024, 128 << 10, 1); measure_stream<2>(ctas, 256, 128 << 10, 1); }
  CHECK(cudaFuncSetAttribute(bursts, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  for (int ctas : {1, 16, 32, 64, sms})
    for (int bytes : {4 << 10, 16 << 10, 32 << 10})
      for (int work : {0, 500, 2000}) {
        const int rounds = 64;
        bursts<<<ctas, 128, bytes>>>(d_data, bytes / 16, (2 << 20) / 16, rounds, work, d_clocks);
        bursts<<<ctas, 128, bytes>>>(d_data, bytes / 16, (2 << 20) / 16, rounds, work, d_clocks);
        std::vector<long long> c(2 * ctas); CHECK(cudaMemcpy(c.data(), d_clocks, 16 * ctas, cudaMemcpyDeviceToHost));
        std::sort(c.begin(), c.begin() + ctas); std::sort(c.begin() + ctas, c.end());
        std::printf("burst %3d CTAs, %5d bytes, %4d clocks between: copy %.0f clocks in the median, %.0f at most; round %.0f\n", ctas, bytes, work, double(c[ctas / 2]) / rounds, double(c[ctas - 1]) / rounds, double(c[ctas + ctas / 2]) / rounds);
      }
  for (int ctas : {1, 32, 128, sms, 2 * sms, 8 * sms})
    for (int threads : {32, 128, 256}) {
      const double base = graph_us([&](cudaStream_t s) { empty<<<ctas, threads, 0, s>>>(); }, 100);
      std::printf("graph of kernels, %4d CTAs of %3d threads: empty %.3f us", ctas, threads, base);
      for (long long n : {1000ll, 4000ll, 16000ll}) std::printf(", %lld clocks %.3f us", n, graph_us([&](cudaStream_t s) { spin<<<ctas, threads, 0, s>>>(n); }, 100));
      std::printf("\n");
    }
  CHECK(cudaFuncSetAttribute(spin_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  for (int kb : {0, 16, 48, 100}) std::printf("graph, %d CTAs of 128 threads, %3d KB of shared memory, 4000 clocks: %.3f us\n", sms, kb, graph_us([&](cudaStream_t s) { spin_dynamic<<<sms, 128, std::max(1, kb) << 10, s>>>(4000); }, 100));
  measure_fetch<128>(); measure_fetch<256>(); measure_fetch<512>(); measure_fetch<1024>(); measure_fetch<1536>(); measure_fetch<2048>(); measure_fetch<3072>(); measure_fetch<4096>(); measure_fetch<6144>(); measure_fetch<8192>();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
