extern "C" __global__ void sort_insertion(const float4* x, float4* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float4 low = x[2 * row], high = x[2 * row + 1];
  float own[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  for (int i = 1; i < 8; ++i) {
    const float value = own[i];
    int at = i;
    for (; at > 0 && own[at - 1] > value; --at) own[at] = own[at - 1];
    own[at] = value;
  }
  y[2 * row] = make_float4(own[0], own[1], own[2], own[3]);
  y[2 * row + 1] = make_float4(own[4], own[5], own[6], own[7]);
}
