// A seven-point average with a halo in shared memory.
#include <cuda_runtime.h>

#define RADIUS 3
#define BLOCK 128

__global__ void stencil_1d(const float* in, float* out, int n) {
  __shared__ float cells[BLOCK + 2 * RADIUS];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int l = threadIdx.x + RADIUS;
  cells[l] = g < n ? in[g] : 0.0f;  //@middle
  if (threadIdx.x < RADIUS) {  //@halo
    cells[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0.0f;  //@left
    cells[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0.0f;  //@right
  }
  __syncthreads();  //@filled
  float sum = 0.0f;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += cells[l + k];  //@read
  if (g < n) out[g] = sum / (2 * RADIUS + 1);  //@store
}

int main() {
  const int n = 3000;
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  stencil_1d<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}
