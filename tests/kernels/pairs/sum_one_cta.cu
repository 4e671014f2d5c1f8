extern "C" __global__ void sum_one_cta(const float* x, float* sums, int n, int parts) {
  __shared__ float of_warps[32];
  const int thread = threadIdx.x, each = n / parts;
  float sum = 0;
  for (int i = thread; i < each; i += 1024) sum += x[blockIdx.x * each + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (thread % 32 == 0) of_warps[thread / 32] = sum;
  __syncthreads();
  if (thread >= 32) return;
  sum = of_warps[thread];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (thread == 0) sums[blockIdx.x] = sum;
}
