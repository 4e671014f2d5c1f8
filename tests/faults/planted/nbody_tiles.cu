// Accelerations of bodies, all pairs, positions by tiles in shared memory.
#include <cuda_runtime.h>

__global__ void nbody_tiles(const float4* bodies, float4* acceleration, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);  //@me
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 64) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);  //@load
    __syncthreads();  //@loaded
    for (int k = 0; k < 64; ++k) {  //@pairs
      const float4 b = tile[k];  //@read
      const float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float f = b.w * r * r * r;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    __syncthreads();  //@used
  }
  if (i < n) acceleration[i] = make_float4(ax, ay, az, 0);  //@store
}

int main() {
  const int n = 300;
  float4 *bodies, *acceleration;
  cudaMalloc(&bodies, n * sizeof(float4));
  cudaMalloc(&acceleration, n * sizeof(float4));
  nbody_tiles<<<(n + 63) / 64, 64>>>(bodies, acceleration, n);
}
