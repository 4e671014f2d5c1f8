// 256 values of a warp, four warps of a CTA.
extern "C" __global__ void sum_shuffled(const float* x, float* sums) {
  const int lane = threadIdx.x % 32, warp = blockIdx.x * 4 + threadIdx.x / 32;
  const float4* from = (const float4*)(x + warp * 256);
  const float4 one = from[lane], two = from[lane + 32];
  float sum = one.x + one.y + one.z + one.w + two.x + two.y + two.z + two.w;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) sums[warp] = sum;
}
