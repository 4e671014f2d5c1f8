// The sums start at zero.
extern "C" __global__ void sum_every_thread(const float* x, float* sums, int n, int parts) {
  const int each = n / parts, at = blockIdx.x * 1024 + threadIdx.x * 4;
  const float4 four = *(const float4*)&x[at];
  atomicAdd(&sums[at / each], four.x + four.y + four.z + four.w);
}
