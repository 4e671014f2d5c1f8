__global__ void integer_intrinsics(const long long* x, long long* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long v = x[i];
  const int low = int(v), high = int(v >> 20);
  long long* out = y + 4 * i;
  out[0] = __umul64hi(v << 20, 0x9E3779B97F4A7C15ull) >> 12;
  out[1] = __popcll(v) + 100 * __clzll(v) + 10000 * __ffsll(v) + (long long)(__brevll(v) >> 40) * 1000000;
  out[2] = (long long)__mul24(low, high) + __mulhi(low, high) + __hadd(low, high) + __rhadd(low, high);
  out[3] = (long long)low * high % 1000003 + (v >> (low & 31)) % 97 + ((long long)(v << 30) >> (high & 15)) / 100000;
}
int main() { integer_intrinsics<<<2, 64>>>(nullptr, nullptr, 110); }
