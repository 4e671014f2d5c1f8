// Where CTAs and their warps run: the SM and the warp slot (%warpid) of each, which slots share a scheduler, in what order SMs get
// CTAs, and what becomes of a place that is free again. Lines of JSON on stdout.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

struct Seen { unsigned sm, slot; long long from, to; };  // clocks of the SM
__device__ __forceinline__ unsigned sm_id() { unsigned v; asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); return v; }
__device__ __forceinline__ unsigned warp_slot() { unsigned v; asm volatile("mov.u32 %0, %%warpid;" : "=r"(v)); return v; }

// Four independent chains: a warp alone on its scheduler issues an FFMA in each clock.
__device__ __forceinline__ float work(int rounds, float seed) {
  float x[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) x[c] = seed + c;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int c = 0; c < 8; ++c) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[c]));
  float sum = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) sum += x[c];
  return sum;
}

// Every warp works; of CTAs whose number is a multiple of `every` as long as `times` others.
__global__ void place(Seen* seen, int rounds, int every, int times, float* sink) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const long long from = clock64();
  const float sum = work(blockIdx.x % every == 0 ? rounds * times : rounds, float(threadIdx.x));
  if (threadIdx.x % 32 == 0) seen[warp] = {sm_id(), warp_slot(), from, clock64()};
  if (sum == 12345.f) *sink = sum;
}

// Of one CTA, only the warps in two slots work: the clocks of the first.
__global__ void pair(unsigned a, unsigned b, int rounds, long long* clocks, float* sink) {
  __syncthreads();
  const unsigned slot = warp_slot();
  if (slot != a && slot != b) return;
  const long long from = clock64();
  const float sum = work(rounds, float(threadIdx.x));
  const long long to = clock64();
  if (slot == a && threadIdx.x % 32 == 0) *clocks = to - from;
  if (sum == 12345.f) *sink = sum;
}

Seen* d_seen;
float* d_sink;
int sms;
constexpr int kMostWarps = 1 << 16;

std::string list(const std::vector<int>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? "," : "") + std::to_string(values[i]);
  return text + "]";
}

void pairs() {
  long long* d_clocks;
  CHECK(cudaMalloc(&d_clocks, 8));
  for (unsigned a : {0U, 1U, 5U}) {
    std::vector<int> percent;
    for (unsigned b = 0; b < 16; ++b) {
      long long alone = 0, both = 0;
      for (int again = 0; again < 2; ++again) {
        pair<<<1, 512>>>(a, a, 2000, d_clocks, d_sink);
        CHECK(cudaMemcpy(&alone, d_clocks, 8, cudaMemcpyDeviceToHost));
        pair<<<1, 512>>>(a, b, 2000, d_clocks, d_sink);
        CHECK(cudaMemcpy(&both, d_clocks, 8, cudaMemcpyDeviceToHost));
      }
      percent.push_back(int(100.0 * both / alone + 0.5));
    }
    std::printf("{\"what\": \"pair\", \"slot\": %u, \"percent_beside_slots_0_to_15\": %s}\n", a, list(percent).c_str());
  }
}

// How many CTAs and warps of a scheduler SMs have, and of three SMs each CTA: its number, its first warp's clocks from and to, its slots.
void places(int threads, int shared, int grid, int rounds, int every, int times) {
  const int warps = threads / 32;
  if (grid * warps > kMostWarps) return;
  CHECK(cudaFuncSetAttribute(place, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, place, threads, shared));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float ms = 0;
  for (int again = 0; again < 2; ++again) {
    CHECK(cudaEventRecord(begin));
    place<<<grid, threads, shared>>>(d_seen, rounds, every, times, d_sink);
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventElapsedTime(&ms, begin, end));
  }
  std::vector<Seen> seen(size_t(grid) * warps);
  CHECK(cudaMemcpy(seen.data(), d_seen, seen.size() * sizeof(Seen), cudaMemcpyDeviceToHost));
  std::map<unsigned, std::vector<int>> ctas;  // by SM
  for (int cta = 0; cta < grid; ++cta) ctas[seen[size_t(cta) * warps].sm].push_back(cta);
  std::map<int, int> of_sm;       // number of SMs by CTAs
  std::map<std::string, int> of_schedulers;  // number of SMs by warps of each scheduler, most first; CTAs that start in the first tenth
  std::map<unsigned, long long> first_on;
  for (auto& [sm, list_of] : ctas) {
    ++of_sm[int(list_of.size())];
    std::vector<int> load(4, 0);
    long long first = INT64_MAX, last = 0;
    for (int cta : list_of)
      for (int w = 0; w < warps; ++w) {
        first = std::min(first, seen[size_t(cta) * warps + w].from);
        last = std::max(last, seen[size_t(cta) * warps + w].to);
      }
    first_on[sm] = first;
    for (int cta : list_of)
      for (int w = 0; w < warps; ++w) {
        const Seen& one = seen[size_t(cta) * warps + w];
        if (one.from < first + (last - first) / 10) ++load[one.slot % 4];
      }
    std::sort(load.rbegin(), load.rend());
    ++of_schedulers[list(load)];
  }
  std::printf("{\"what\": \"places\", \"threads\": %d, \"shared\": %d, \"resident\": %d, \"grid\": %d, \"long_every\": %d, \"long_times\": %d, \"us\": %.2f", threads, shared,
              resident, grid, every, times, ms * 1e3);
  std::printf(", \"sms_by_ctas\": {");
  const char* comma = "";
  for (const auto& [count, number] : of_sm) std::printf("%s\"%d\": %d", comma, count, number), comma = ", ";
  std::printf("}, \"sms_by_warps_of_schedulers\": {");
  comma = "";
  for (const auto& [load, number] : of_schedulers) std::printf("%s\"%s\": %d", comma, load.c_str(), number), comma = ", ";
  std::printf("}, \"sms\": [");
  comma = "";
  for (unsigned sm : {0U, 1U, 77U}) {
    std::printf("%s{\"sm\": %u, \"ctas\": [", comma, sm), comma = ", ";
    const char* inner = "";
    const auto& list_of = ctas[sm];
    for (size_t i = 0; i < std::min<size_t>(list_of.size(), 16); ++i) {
      const Seen& one = seen[size_t(list_of[i]) * warps];
      std::vector<int> slots;
      for (int w = 0; w < warps; ++w) slots.push_back(int(seen[size_t(list_of[i]) * warps + w].slot));
      std::printf("%s[%d, %lld, %lld, %s]", inner, list_of[i], one.from - first_on[sm], one.to - first_on[sm], list(slots).c_str()), inner = ", ";
    }
    std::printf("]}");
  }
  std::printf("]}\n");
}

// The SM of each of a grid's first CTAs.
void order(int threads, int shared, int grid) {
  CHECK(cudaFuncSetAttribute(place, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  place<<<grid, threads, shared>>>(d_seen, 2000, 1 << 30, 1, d_sink);
  CHECK(cudaDeviceSynchronize());
  std::vector<Seen> seen(size_t(grid) * (threads / 32));
  CHECK(cudaMemcpy(seen.data(), d_seen, seen.size() * sizeof(Seen), cudaMemcpyDeviceToHost));
  std::vector<int> sm;
  for (int cta = 0; cta < grid; ++cta) sm.push_back(int(seen[size_t(cta) * (threads / 32)].sm));
  std::printf("{\"what\": \"order\", \"threads\": %d, \"shared\": %d, \"grid\": %d, \"sm_of_cta\": %s}\n", threads, shared, grid, list(sm).c_str());
}

int main() {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  sms = prop.multiProcessorCount;
  CHECK(cudaMalloc(&d_seen, kMostWarps * sizeof(Seen)));
  CHECK(cudaMalloc(&d_sink, 4));
  std::printf("{\"what\": \"device\", \"name\": \"%s\", \"sms\": %d}\n", prop.name, sms);
  pairs();
  order(64, 0, 3 * sms);
  order(128, 100 * 1024, 5 * sms);
  for (int threads : {32, 64, 96, 128, 192, 256})
    for (int shared : {0, 30 * 1024, 55 * 1024, 100 * 1024})
      for (int ctas10 : {10, 15, 20, 30, 40, 48, 50, 58, 70, 100, 145})
        places(threads, shared, sms * ctas10 / 10, 1000, 1 << 30, 1);
  // Places that come free while others still run: where the next CTA's warps go.
  for (int threads : {32, 64, 128})
    for (int shared : {30 * 1024, 55 * 1024}) places(threads, shared, sms * 12, 1000, 3, 4);
  return 0;
}
