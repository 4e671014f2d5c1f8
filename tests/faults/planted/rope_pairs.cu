// Rotary position embedding of half-rows, pairs of neighbours.
#include <cuda_runtime.h>

__global__ void rope_pairs(const float* x, const float* angles, float* y, int seq, int heads, int dim) {
  const int pair = threadIdx.x;
  const int head = blockIdx.x % heads, pos = blockIdx.x / heads;
  const int half = dim / 2;
  if (pair >= half) return;  //@guard
  const int at = (pos * heads + head) * dim + 2 * pair;  //@index
  const float2 v = *reinterpret_cast<const float2*>(x + at);  //@load
  const float a = angles[pos * half + pair];  //@angle
  const float c = __cosf(a), s = __sinf(a);
  *reinterpret_cast<float2*>(y + at) = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);  //@store
}

int main() {
  const int seq = 20, heads = 3, dim = 48;
  float *x, *angles, *y;
  cudaMalloc(&x, seq * heads * dim * sizeof(float));
  cudaMalloc(&angles, seq * (dim / 2) * sizeof(float));
  cudaMalloc(&y, seq * heads * dim * sizeof(float));
  rope_pairs<<<seq * heads, 32>>>(x, angles, y, seq, heads, dim);
}
