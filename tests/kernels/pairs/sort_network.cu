extern "C" __global__ void sort_network(const float4* x, float4* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float4 low = x[2 * row], high = x[2 * row + 1];
  float own[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int pass = 0; pass < 8; ++pass)
#pragma unroll
    for (int i = pass % 2; i + 1 < 8; i += 2) {
      const float less = fminf(own[i], own[i + 1]);
      own[i + 1] = fmaxf(own[i], own[i + 1]);
      own[i] = less;
    }
  y[2 * row] = make_float4(own[0], own[1], own[2], own[3]);
  y[2 * row + 1] = make_float4(own[4], own[5], own[6], own[7]);
}
