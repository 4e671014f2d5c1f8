__global__ void scan_warp(const unsigned long long* in, unsigned long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long v = i < n ? in[i] : 0;
  for (int o = 1; o < 32; o <<= 1) {
    const unsigned long long other = __shfl_up_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 >= o) v += other;
  }
  if (i < n) out[i] = v;
}
int main() { scan_warp<<<4, 64>>>(nullptr, nullptr, 256); }
