// 512 columns.
extern "C" __global__ void softmax_kept(const float* x, float* p, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float4 own[4];
  float most = -1e30f, sum = 0;
  for (int i = 0; i < 4; ++i) {
    own[i] = ((const float4*)(x + row * columns))[lane + 32 * i];
    most = fmaxf(most, fmaxf(fmaxf(own[i].x, own[i].y), fmaxf(own[i].z, own[i].w)));
  }
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  for (int i = 0; i < 4; ++i) {
    own[i] = make_float4(__expf(own[i].x - most), __expf(own[i].y - most), __expf(own[i].z - most),
                         __expf(own[i].w - most));
    sum += own[i].x + own[i].y + own[i].z + own[i].w;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  const float scale = 1 / sum;
  for (int i = 0; i < 4; ++i)
    ((float4*)(p + row * columns))[lane + 32 * i] =
        make_float4(own[i].x * scale, own[i].y * scale, own[i].z * scale, own[i].w * scale);
}
