#include <cstdint>
__device__ __forceinline__ uint64_t next(uint64_t& s) {
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return s * 0x2545F4914F6CDD1DULL;
}
__global__ void xorshift(uint32_t* out, int n, uint32_t rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t s = 0x9E3779B97F4A7C15ULL * (i + 1), v = 0;
  for (uint32_t r = 0; r < rounds; ++r) v = next(s);
  out[i] = uint32_t(v >> 32);
}
int main() { const int n = 500; uint32_t rounds = 20; xorshift<<<(n + 63) / 64, 64>>>(nullptr, n, rounds); }
