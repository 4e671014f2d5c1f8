typedef unsigned int u32;
static __forceinline__ __device__ u32 rotl(u32 x, int r) { return __funnelshift_l(x, x, r); }
__global__ void murmur(const u32* keys, u32* hashes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 h = 42u, k = keys[i] * 0xcc9e2d51u;
  k = rotl(k, 15) * 0x1b873593u;
  h = rotl(h ^ k, 13) * 5u + 0xe6546b64u;
  h ^= 4u;
  h ^= h >> 16, h *= 0x85ebca6bu;
  h ^= h >> 13, h *= 0xc2b2ae35u;
  hashes[i] = h ^ h >> 16;
}
int main() { const int n = 400; murmur<<<(n + 127) / 128, 128>>>(nullptr, nullptr, n); }
