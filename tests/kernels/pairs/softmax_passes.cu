extern "C" __global__ void softmax_passes(const float* x, float* p, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* from = x + row * columns;
  float most = -1e30f, sum = 0;
  for (int i = lane; i < columns; i += 32) most = fmaxf(most, from[i]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  for (int i = lane; i < columns; i += 32) sum += __expf(from[i] - most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  for (int i = lane; i < columns; i += 32) p[row * columns + i] = __expf(from[i] - most) / sum;
}
