// R and C are multiples of 32.
extern "C" __global__ void transpose_tile(const float* x, float* y, int R, int C) {
  __shared__ float tile[32][32];
  const int from_x = blockIdx.x * 32, from_y = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8) tile[i][threadIdx.x] = x[(from_y + i) * C + from_x + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) y[(from_x + i) * R + from_y + threadIdx.x] = tile[threadIdx.x][i];
}
