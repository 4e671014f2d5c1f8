extern "C" __global__ void transpose_direct(const float* x, float* y, int R, int C) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row < R && column < C) y[column * R + row] = x[row * C + column];
}
