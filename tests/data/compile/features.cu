// What a cubin can hold that the readers must understand. Recorded for three architectures by the two NVRTCs that this
// program uses; README.md says how.
#include <cuda_fp16.h>

__constant__ float weights[8];
__device__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
__device__ int hits;

__device__ __noinline__ float called(float x, int n) {
  for (int i = 0; i < n; ++i) x = x * x + 0.5f;
  return x;
}

__device__ __forceinline__ float innermost(const __half* p) { return __half2float(p[3]); }
__device__ __forceinline__ float middle(const __half* p) { return innermost(p) + 1.25f; }

extern "C" __global__ void __launch_bounds__(128)
features(const __half* __restrict__ in, float* __restrict__ out, double d, int n, short s) {
  __shared__ __align__(16) __half tile[64];
  __shared__ float partial[3];
  const int t = threadIdx.x;
  tile[t & 63] = in[t];
  __syncthreads();
  float a = middle(in) * weights[t & 7];
  switch (n) {
    case 0: a += 3.0f; break;
    case 1: a *= 7.5f; break;
    case 2: a = out[t + 5]; break;
    case 3: a = a * a + out[9]; break;
    case 4: out[5] = a; break;
    case 5: a -= out[2]; break;
    case 6: a = -fabsf(out[4]) * a; break;
    case 7: out[99] = 3.0f; break;
  }
  a += called(a, n) + table[s & 3];
  if (a > 1e30f) atomicAdd(&hits, 1);
  for (int offset = 16; offset > 0; offset >>= 1) a += __shfl_xor_sync(0xffffffffu, a, offset);
  if ((t & 31) == 0) partial[t >> 5] = a;
  __syncthreads();
  const __half2 h = __hfma2(__half2half2(tile[(t + 1) & 63]), __floats2half2_rn(0.5f, 2.0f), __float2half2_rn(-1.0f));
  const unsigned active = __ballot_sync(0xffffffffu, a > 0.0f);
  out[t] = partial[(t >> 5) % 3] + __low2float(h) + __high2float(h) + static_cast<float>(d * 1.5 + 2e300) + __popc(active);
}

extern "C" __global__ void second(int* out) {
  __shared__ int z[77];
  z[threadIdx.x] = out[0];
  __syncthreads();
  out[1] = z[0];
}
