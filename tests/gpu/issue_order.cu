// Which of a scheduler's ready warps issues: by how far each warp of an SM has come when.
//
//   nvcc -arch=sm_90 -O3 tests/gpu/issue_order.cu -o issue_order && ./issue_order
//
// Every warp runs the same code in 16 equal parts; a scheduler has more ready warps than it can serve. A line for each launch:
// for each warp of one SM's first scheduler, as CTA.warp, the clocks since the SM's first warp began at which it begins and
// has run 1, 2, 4, 8, 12 and all 16 parts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));              \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (false)

constexpr int kRounds = 256, kStamps = 16, kUnroll = 16;

struct Warp {
  uint32_t sm, cta, warp, pad;
  long long at[kStamps + 1];
};

// Chains: how many independent FFMA chains a warp has. Loads: shared loads in each round, whose results the chains add.
template <int Chains, int Loads>
__global__ void work(Warp* out, float factor, int rounds, unsigned first) {
  extern __shared__ float shared[];
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) shared[i] = factor * float(i);
  __syncthreads();
  if (blockIdx.x < first && blockIdx.x % 2 == 1) rounds /= 2;  // so that the next CTAs begin beside older ones
  float x[Chains];
  for (int c = 0; c < Chains; ++c) x[c] = threadIdx.x + c;
  long long at[kStamps + 1];
  at[0] = clock64();
#pragma unroll
  for (int stamp = 1; stamp <= kStamps; ++stamp) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
#pragma unroll
        for (int c = 0; c < Chains; ++c) x[c] = x[c] * factor + 1.5F;
      if constexpr (Loads > 0) {
#pragma unroll
        for (int l = 0; l < Loads; ++l) x[l % Chains] += shared[(threadIdx.x + l * 32 + round) & 2047];
      }
    }
    at[stamp] = clock64();
  }
  float sum = 0;
  for (int c = 0; c < Chains; ++c) sum += x[c];
  if (threadIdx.x % 32 == 0 || sum == 12345) {
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    Warp& mine = out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32];
    mine.sm = sm;
    mine.cta = blockIdx.x;
    mine.warp = threadIdx.x / 32;
    for (int stamp = 0; stamp <= kStamps; ++stamp) mine.at[stamp] = at[stamp];
  }
}

template <int Chains, int Loads>
void measure(const char* name, int warps, int ctas_per_sm, bool next) {
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int ctas = next ? sms * ctas_per_sm * 3 / 2 : sms * ctas_per_sm;
  std::vector<Warp> host(size_t(ctas) * warps);
  Warp* out = nullptr;
  CHECK(cudaMalloc(&out, host.size() * sizeof(Warp)));
  const int shared = 200 * 1024 / ctas_per_sm;
  CHECK(cudaFuncSetAttribute(work<Chains, Loads>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int again = 0; again < 2; ++again) {
    work<Chains, Loads><<<ctas, warps * 32, shared>>>(out, 0.5F, kRounds, next ? unsigned(sms * ctas_per_sm) : 0U);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaMemcpy(host.data(), out, host.size() * sizeof(Warp), cudaMemcpyDeviceToHost));
  const uint32_t sm = host[5 * size_t(warps)].sm;
  long long first = -1;
  for (const Warp& warp : host)
    if (warp.sm == sm && (first < 0 || warp.at[0] < first)) first = warp.at[0];
  std::printf("%s warps %d ctas %d%s sm %u:", name, warps, ctas_per_sm, next ? " and next" : "", sm);
  for (const Warp& warp : host)
    if (warp.sm == sm && warp.warp % 4 == 0) {
      std::printf("  %u.%u %lld", warp.cta, warp.warp, warp.at[0] - first);
      for (int stamp : {1, 2, 4, 8, 12, 16}) std::printf(" %lld", warp.at[stamp] - first);
    }
  std::printf("\n");
  CHECK(cudaFree(out));
}

template <int Chains, int Loads>
void all(const char* name) {
  for (const auto [warps, ctas] : {std::pair{8, 1}, {12, 1}, {16, 1}, {32, 1}, {4, 4}, {8, 2}, {2, 8}}) measure<Chains, Loads>(name, warps, ctas, false);
  for (const auto [warps, ctas] : {std::pair{4, 4}, {8, 2}, {4, 8}}) measure<Chains, Loads>(name, warps, ctas, true);
}

int main() {
  all<1, 0>("chains 1 loads 0");
  all<4, 0>("chains 4 loads 0");
  all<8, 0>("chains 8 loads 0");
  all<8, 1>("chains 8 loads 1");
  all<8, 8>("chains 8 loads 8");
  all<4, 16>("chains 4 loads 16");
}
