extern "C" __global__ void copy_neighbours(const float* x, float* y, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = x[i];
}
