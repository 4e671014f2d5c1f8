// As many values of a CTA as it has threads.
extern "C" __global__ void sum_modulo(const float* x, float* sums) {
  __shared__ float part[256];
  const int thread = threadIdx.x;
  part[thread] = x[blockIdx.x * blockDim.x + thread];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (thread % (2 * step) == 0) part[thread] += part[thread + step];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = part[0];
}
