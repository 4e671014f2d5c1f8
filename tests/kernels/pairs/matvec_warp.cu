extern "C" __global__ void matvec_warp(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
#pragma unroll 4
  for (int i = lane * 4; i < columns; i += 128) {
    const float4 left = *(const float4*)&a[row * columns + i], right = *(const float4*)&x[i];
    sum += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}
