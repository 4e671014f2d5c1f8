// n is a multiple of four.
extern "C" __global__ void copy_wide(const float4* x, float4* y, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) y[i] = x[i];
}
