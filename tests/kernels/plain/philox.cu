// Philox4x32-10, as cuRAND has it.
struct Counter { unsigned x, y, z, w; };
__host__ __device__ inline Counter philox_round(Counter c, unsigned k0, unsigned k1) {
#ifdef __CUDA_ARCH__
  const unsigned high0 = __umulhi(0xD2511F53u, c.x), high1 = __umulhi(0xCD9E8D57u, c.z);
#else
  const unsigned high0 = (0xD2511F53ull * c.x) >> 32, high1 = (0xCD9E8D57ull * c.z) >> 32;
#endif
  return {high1 ^ c.y ^ k0, 0xCD9E8D57u * c.z, high0 ^ c.w ^ k1, 0xD2511F53u * c.x};
}
__global__ void philox(uint4* out, int n, unsigned seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Counter c{unsigned(i), 0, 0, 0};
    unsigned k0 = seed, k1 = 0;
#pragma unroll
    for (int r = 0; r < 10; ++r, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) c = philox_round(c, k0, k1);
    out[i] = make_uint4(c.x, c.y, c.z, c.w);
  }
}
int main() { unsigned seed = 7; philox<<<2, 32>>>(nullptr, 100, seed); }
