// The tail of the classic reduction: volatile shared memory, a barrier of the warp alone, and a clock around it.
__global__ void volatile_warp(const int* in, int* out, int* ordered, int rows) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  const long long start = clock64();
  const clock_t low = clock();
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    for (int step = 32; step > 0; step >>= 1) {
      const int sum = s[t] + s[t + (t < step ? step : 0)];
      __syncwarp();
      if (t < step) s[t] = sum;
      __syncwarp();
    }
  }
  if (t == 0) out[blockIdx.x] = s[0];
  ordered[blockIdx.x * 64 + t] = clock64() >= start && clock() - low >= 0;
}
int main() { volatile_warp<<<6, 64>>>(nullptr, nullptr, nullptr, 6); }
