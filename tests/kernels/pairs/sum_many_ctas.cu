// The sums start at zero.
extern "C" __global__ void sum_many_ctas(const float* x, float* sums, int n, int parts) {
  __shared__ float of_warps[8];
  const int each = n / parts, at = blockIdx.x * 1024 + threadIdx.x * 4;
  const float4 four = *(const float4*)&x[at];
  float sum = four.x + four.y + four.z + four.w;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < 8; ++warp) sum += of_warps[warp];
  atomicAdd(&sums[at / each], sum);
}
