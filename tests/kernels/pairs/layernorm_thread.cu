extern "C" __global__ void layernorm_thread(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int i = 0; i < columns; ++i) {
    const float value = x[row * columns + i];
    sum += value;
    squares += value * value;
  }
  const float mean = sum / columns;
  const float scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  for (int i = 0; i < columns; ++i) y[row * columns + i] = (x[row * columns + i] - mean) * scale;
}
