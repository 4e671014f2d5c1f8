// What a kernel's first run costs, whose code and data are in no cache: launch, code, loads that wait for DRAM, and its bandwidth.
// nvcc -O3 -arch=sm_90 -o cold tests/gpu/cold.cu && ./cold
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)
__device__ __forceinline__ uint4 load_l2(const uint4* p) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
__global__ void empty() {}
// kBody FFMA in a row, each executed once.
template <int kBody>
__global__ void code(long long* clocks, unsigned* sink) {
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = threadIdx.x + c;
  const float y = threadIdx.x;
  const long long start = clock64();
#pragma unroll
  for (int i = 0; i < kBody / 8; ++i)
#pragma unroll
    for (int c = 0; c < 8; ++c) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(y));
  const long long end = clock64();
  float sum = 0;
  for (int c = 0; c < 8; ++c) sum += x[c];
  if (sum == 12345.678f) *sink = 1;
  if (threadIdx.x == 0) clocks[blockIdx.x] = end - start;
}
// Dependent loads, `stride` bytes apart.
__global__ void chase(const uint4* data, size_t stride, int loads, long long* clocks, unsigned* sink) {
  const char* at = reinterpret_cast<const char*>(data);
  unsigned zero = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < loads; ++i, at += stride) {
    const uint4 v = load_l2(reinterpret_cast<const uint4*>(at + zero));
    zero = v.x & v.y & 0;
    asm volatile("" : "+r"(zero));
  }
  const long long end = clock64();
  if (zero) *sink = 1;
  if (threadIdx.x == 0) clocks[blockIdx.x] = end - start;
}
// CTAs in groups of `of` read the same `count` vectors once, kEach loads of a thread at a time.
template <int kEach>
__global__ void read_once(const uint4* data, size_t count, int of, long long* clocks, unsigned* sink) {
  const uint4* mine = data + size_t(blockIdx.x / of) * count;
  unsigned sum = 0;
  const size_t n = blockDim.x;
  const long long start = clock64();
#pragma unroll 1
  for (size_t i = threadIdx.x; i < count; i += kEach * n) {
    uint4 v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) v[k] = i + k * n < count ? load_l2(mine + i + k * n) : uint4{};
#pragma unroll
    for (int k = 0; k < kEach; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  __syncthreads();
  const long long end = clock64();
  if (sum == 0x9e3779b9) *sink = 1;
  if (threadIdx.x == 0) clocks[blockIdx.x] = end - start;
}
long long* d_clocks; unsigned* d_sink; uint4* d_data; char* d_flush; int sms; size_t flush;
constexpr int kRuns = 15;
template <class T> T median(std::vector<T> values) { std::sort(values.begin(), values.end()); return values[values.size() / 2]; }
// Medians over runs: microseconds between two events, the median and the largest of the CTAs' clocks; hot, then cold.
void show(const char* name, int ctas, bool clocked, const std::function<void()>& launch) {
  std::printf("%-34s", name);
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
  for (const bool cold : {false, true}) {
    std::vector<float> us; std::vector<long long> middle, most;
    for (int run = -3; run < kRuns; ++run) {
      if (cold) CHECK(cudaMemsetAsync(d_flush, run & 1, flush)); else { launch(); }
      CHECK(cudaEventRecord(a)); launch(); CHECK(cudaEventRecord(b)); CHECK(cudaEventSynchronize(b));
      if (run < 0) continue;
      float ms; CHECK(cudaEventElapsedTime(&ms, a, b)); us.push_back(ms * 1e3f);
      if (!clocked) continue;
      std::vector<long long> clocks(ctas);
      CHECK(cudaMemcpy(clocks.data(), d_clocks, ctas * 8, cudaMemcpyDeviceToHost));
      middle.push_back(median(clocks)); most.push_back(*std::max_element(clocks.begin(), clocks.end()));
    }
    std::printf("  %s %7.2f us", cold ? "cold" : "hot", median(us));
    if (clocked) std::printf(" %8lld %8lld", median(middle), median(most));
  }
  std::printf("\n");
}
template <int kBody> void show_code() {
  for (const int ctas : {1, sms}) for (const int warps : {1, 4, 16}) {
    char name[64]; std::snprintf(name, sizeof name, "code %d ffma %d ctas %d warps", kBody, ctas, warps);
    show(name, ctas, true, [=] { code<kBody><<<ctas, 32 * warps>>>(d_clocks, d_sink); });
  }
}
int main() {
  cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0)); sms = p.multiProcessorCount;
  flush = 2 * size_t(p.l2CacheSize);
  CHECK(cudaMalloc(&d_clocks, 1 << 20)); CHECK(cudaMalloc(&d_sink, 4096)); CHECK(cudaMalloc(&d_data, 256 << 20)); CHECK(cudaMalloc(&d_flush, flush));
  CHECK(cudaMemset(d_data, 1, 256 << 20));
  std::printf("# %s, %d SMs; microseconds between events, then clocks of the median and of the slowest CTA\n", p.name, sms);
  show("empty 1 cta", 1, false, [] { empty<<<1, 32>>>(); });
  show("empty every sm", sms, false, [] { empty<<<sms, 128>>>(); });
  show_code<64>(); show_code<256>(); show_code<1024>(); show_code<2048>(); show_code<4096>(); show_code<8192>();
  for (const size_t stride : {size_t(128), size_t(4096), size_t(1) << 16, size_t(2) << 20}) for (const int loads : {1, 4, 16, 64}) {
    char name[64]; std::snprintf(name, sizeof name, "chase %zu B %d loads", stride, loads);
    show(name, 1, true, [=] { chase<<<1, 1>>>(d_data, stride, loads, d_clocks, d_sink); });
  }
  for (const size_t kb : {1, 4, 16, 64, 256, 1024}) for (const int of : {1, 4, 33, 132}) {
    char name[64]; std::snprintf(name, sizeof name, "read %zu KB each %d ctas the same", kb, of);
    show(name, sms, true, [=] { read_once<4><<<sms, 256>>>(d_data, kb << 6, of, d_clocks, d_sink); });
  }
  for (const size_t kb : {16, 64}) for (const int of : {1, 4, 33}) {
    char name[64]; std::snprintf(name, sizeof name, "read %zu KB each %d same, 1024 thr", kb, of);
    show(name, sms * 2, true, [=] { read_once<2><<<sms * 2, 1024>>>(d_data, kb << 6, of, d_clocks, d_sink); });
  }
}
