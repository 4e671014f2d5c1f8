extern "C" __global__ void matvec_thread(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * x[i];
  y[row] = sum;
}
