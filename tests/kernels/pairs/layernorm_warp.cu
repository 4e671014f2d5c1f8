// 128 columns, four of a lane.
extern "C" __global__ void layernorm_warp(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float4 own = ((const float4*)(x + row * columns))[lane];
  float sum = own.x + own.y + own.z + own.w;
  float squares = own.x * own.x + own.y * own.y + own.z * own.z + own.w * own.w;
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, step);
    squares += __shfl_xor_sync(0xffffffff, squares, step);
  }
  const float mean = sum / columns;
  const float scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  ((float4*)(y + row * columns))[lane] = make_float4((own.x - mean) * scale, (own.y - mean) * scale,
                                                     (own.z - mean) * scale, (own.w - mean) * scale);
}
