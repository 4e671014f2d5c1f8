// Measures, on the GPU it runs on, the clocks that the L1 data cache takes for a warp's load, by how its addresses lie. Prints lines of
// "width lanes row offset clocks": each lane loads `width` words of four bytes, `lanes` lanes lie side by side, the next ones `row` words
// further, and the first lane `offset` words into a line.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 l1_passes.cu -o l1_passes && ./l1_passes
//
// One CTA of 16 warps loads the same addresses again and again, all from the L1, eight loads at a time that are a line apart.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                       \
  do {                                                                    \
    cudaError_t error = (call);                                           \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

namespace {

constexpr int kWarps = 16, kSteps = 200, kLoads = 8;

template <int width>
__device__ __forceinline__ float load(const float* at) {
  float a, b, c, d;
  if constexpr (width == 1) asm volatile("ld.global.f32 %0, [%1];" : "=f"(a) : "l"(at) : "memory");
  if constexpr (width == 2) asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "l"(at) : "memory");
  if constexpr (width == 4)
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(at) : "memory");
  return a;
}

// `step` is 0, which the compiler must not know, or it would load once.
template <int width>
__global__ void passes(const float* data, int lanes, int row, int step, long long* clocks, float* sink) {
  const int lane = threadIdx.x % 32;
  data += lane % lanes * width + lane / lanes * row;
  float sum = 0;
  for (int j = 0; j < kLoads; ++j) sum += load<width>(data + 32 * j);
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < kSteps; ++i, data += step) {
    float values[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) values[j] = load<width>(data + 32 * j);
#pragma unroll
    for (int j = 0; j < kLoads; ++j) sum += values[j];
  }
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - begin;
  sink[threadIdx.x] = sum;
}

template <int width>
void measure(const float* data, long long* clocks, float* sink) {
  for (int lanes = 32; lanes >= 1; lanes /= 2) {
    // Rows begin in the same bank, directly after the last one's, one access further, or anywhere.
    for (int skew : {0, lanes * width, width, 4, 12, 20}) {
      if (skew % width != 0) continue;
      for (int offset : {0, 4, 16}) {
        passes<width><<<1, 32 * kWarps>>>(data + offset, lanes, 1024 + skew, 0, clocks, sink);
        long long taken = 0;
        CHECK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
        std::printf("%d %2d %4d %2d %6.2f\n", width, lanes, 1024 + skew, offset, double(taken) / (double(kSteps) * kLoads * kWarps));
      }
    }
  }
}

}  // namespace

int main() {
  float *data = nullptr, *sink = nullptr;
  long long* clocks = nullptr;
  CHECK(cudaMalloc(&data, 1 << 20));
  CHECK(cudaMemset(data, 0, 1 << 20));
  CHECK(cudaMalloc(&sink, 32 * kWarps * sizeof(float)));
  CHECK(cudaMalloc(&clocks, sizeof *clocks));
  measure<1>(data, clocks, sink);
  measure<2>(data, clocks, sink);
  measure<4>(data, clocks, sink);
}
