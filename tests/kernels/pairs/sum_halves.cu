// 256 values of a CTA.
extern "C" __global__ void sum_halves(const float* x, float* sums) {
  __shared__ float part[256];
  const int thread = threadIdx.x;
  part[thread] = x[blockIdx.x * 256 + thread];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (thread < step) part[thread] += part[thread + step];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = part[0];
}
