// 256 values of a row, eight of a lane.
extern "C" __global__ void scan_shuffles(const float* x, float* y) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float4* from = (const float4*)(x + row * 256) + 2 * lane;
  const float4 low = from[0], high = from[1];
  const float own[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  float sums[8];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sums[i] = sum += own[i];
  float before = sum;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float lower = __shfl_up_sync(0xffffffff, before, step);
    if (lane >= step) before += lower;
  }
  before -= sum;
  float4* to = (float4*)(y + row * 256) + 2 * lane;
  to[0] = make_float4(before + sums[0], before + sums[1], before + sums[2], before + sums[3]);
  to[1] = make_float4(before + sums[4], before + sums[5], before + sums[6], before + sums[7]);
}
