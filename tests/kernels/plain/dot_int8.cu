__global__ void dot_int8(const int* a, const int* b, int* c, int rows, int words) {
  const int row = blockIdx.x;
  int sum = 0;
  for (int k = threadIdx.x; k < words; k += 32) sum = __dp4a(a[row * words + k], b[row * words + k], sum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x == 0) c[row] = sum;
}
int main() { int rows = 9, words = 50; dot_int8<<<rows, 32>>>(nullptr, nullptr, nullptr, rows, words); }
