#include <cuda_runtime.h>
__global__ void nbody(const float4* body, float4* force, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 f = {0.f, 0.f, 0.f};
  for (int base = 0; base < n; base += 64) {
    __syncthreads();
    tile[threadIdx.x] = base + threadIdx.x < n ? body[base + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = tile[j].w * inv * inv * inv;
      f.x += dx * s, f.y += dy * s, f.z += dz * s;
    }
  }
  if (i < n) force[i] = make_float4(f.x, f.y, f.z, 0.f);
}
int main() { const int n = 150; nbody<<<(n + 63) / 64, 64>>>(nullptr, nullptr, n); }
