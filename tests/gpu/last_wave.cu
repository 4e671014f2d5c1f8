// How the last CTAs of a grid are shared out: how far apart the CTAs of an SM end, how far apart the SMs' first places become free,
// and how many CTAs each SM gets. Every CTA loads tiles into shared memory and multiplies between two barriers, as attention kernels
// do. A grid has 1.45 times the CTAs that fit at once. Lines of text on stdout.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

constexpr int kTile = 1024, kTiles = 48, kInputs = 16;  // float4 of a tile; tiles of an input
struct Seen { long long sm, from, to, from_ns, to_ns; };  // clocks of the SM, and the device's timer

__device__ long long timer() {
  long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void work(const float4* input, float* sink, Seen* seen, int tiles, int rounds) {
  extern __shared__ float4 tile[];
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const long long from = clock64(), from_ns = timer();
  const int thread = threadIdx.x;
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = thread + c;
  input += blockIdx.x % kInputs * kTile * kTiles;
  for (int t = 0; t < tiles; ++t) {
    for (int i = thread; i < kTile; i += blockDim.x) tile[i] = input[t * kTile + i];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
      const float4 v = tile[(r * 33 + thread / 8) & (kTile - 1)];
#pragma unroll
      for (int c = 0; c < 8; ++c) x[c] = fmaf(fmaf(fmaf(x[c], v.x, v.y), v.z, v.w), v.x, v.y);
    }
    __syncthreads();
  }
  float sum = 0;
  for (float c : x) sum += c;
  if (sum == 1.5f) *sink = sum;
  if (thread == 0) seen[blockIdx.x] = {sm, from, clock64(), from_ns, timer()};
}

// The 10th, 50th and 90th percentile, and the largest.
void print(const char* name, std::vector<long long> values) {
  std::sort(values.begin(), values.end());
  std::printf(" %s", name);
  for (double share : {0.1, 0.5, 0.9, 1.0}) std::printf(" %lld", values[size_t(share * double(values.size() - 1))]);
}

void run(int warps, int places, int tiles, int rounds, int sms, const float4* input, float* sink, Seen* d_seen) {
  const int ctas = int(sms * places * 1.45);
  int bytes = 231424 / places - 1024;
  bytes -= bytes % 128;
  for (int again = 0; again < 3; ++again) work<<<ctas, warps * 32, bytes>>>(input, sink, d_seen, tiles, rounds);
  std::vector<Seen> seen(ctas);
  CHECK(cudaMemcpy(seen.data(), d_seen, ctas * sizeof(Seen), cudaMemcpyDeviceToHost));
  std::map<long long, std::vector<Seen>> by_sm;
  long long begin = seen[0].from_ns, end = 0, first_free = seen[0].to_ns;
  for (const Seen& one : seen) {
    by_sm[one.sm].push_back(one);
    begin = std::min(begin, one.from_ns), end = std::max(end, one.to_ns), first_free = std::min(first_free, one.to_ns);
  }
  std::vector<long long> gaps, begins, frees, durations;  // of each SM's first CTAs
  std::map<size_t, int> sms_by_ctas;
  for (auto& [sm, on] : by_sm) {
    std::sort(on.begin(), on.end(), [](const Seen& a, const Seen& b) { return a.from < b.from; });
    long long least = on[0].to, most = 0, free = on[0].to_ns;
    for (int i = 0; i < std::min<int>(places, int(on.size())); ++i)
      least = std::min(least, on[i].to), most = std::max(most, on[i].to), free = std::min(free, on[i].to_ns);
    gaps.push_back(most - least);
    begins.push_back(on[0].from_ns - begin);
    frees.push_back(free - first_free);
    durations.push_back(least - on[0].from);
    ++sms_by_ctas[on.size()];
  }
  std::printf("warps %d places %d tiles %d rounds %d us %.1f", warps, places, tiles, rounds, double(end - begin) / 1e3);
  print("gap", gaps), print("begin_ns", begins), print("free_ns", frees), print("clocks", durations);
  std::printf(" ctas");
  for (const auto& [number, on] : sms_by_ctas) std::printf(" %zu:%d", number, on);
  std::puts("");
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  float4* input;
  float* sink;
  Seen* seen;
  CHECK(cudaMalloc(&input, sizeof(float4) * kTile * kTiles * kInputs));
  CHECK(cudaMemset(input, 0, sizeof(float4) * kTile * kTiles * kInputs));
  CHECK(cudaMalloc(&sink, sizeof(float)));
  CHECK(cudaMalloc(&seen, sizeof(Seen) << 14));
  CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, int(device.sharedMemPerBlockOptin)));
  const int shapes[][2] = {{4, 2}, {2, 2}, {2, 4}, {1, 4}, {1, 8}, {4, 3}, {4, 4}, {2, 8}, {8, 2}, {8, 4}};  // warps of a CTA, places
  for (const auto& [warps, places] : shapes)
    for (int tiles : {6, 24, 48})
      for (int rounds : {32, 128}) run(warps, places, tiles, rounds, device.multiProcessorCount, input, sink, seen);
  CHECK(cudaDeviceSynchronize());
}
