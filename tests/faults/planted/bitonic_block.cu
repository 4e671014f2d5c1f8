// Sorts 256 keys a block, bitonic.
#include <cuda_runtime.h>

__global__ void bitonic_block(const unsigned int* in, unsigned int* out) {
  __shared__ unsigned int key[256];
  const unsigned int t = threadIdx.x;
  key[t] = in[blockIdx.x * 256 + t];  //@fill
  for (unsigned int k = 2; k <= 256; k <<= 1) {
    for (unsigned int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();  //@step
      const unsigned int other = t ^ j;
      if (other > t) {
        const unsigned int a = key[t], b = key[other];  //@read
        if ((a > b) == ((t & k) == 0)) {
          key[t] = b;  //@low
          key[other] = a;  //@high
        }
      }
    }
  }
  __syncthreads();  //@sorted
  out[blockIdx.x * 256 + t] = key[t];  //@store
}

int main() {
  const int blocks = 6;
  unsigned int *in, *out;
  cudaMalloc(&in, blocks * 256 * sizeof(unsigned int));
  cudaMalloc(&out, blocks * 256 * sizeof(unsigned int));
  bitonic_block<<<blocks, 256>>>(in, out);
}
