// The first index goes to the columns.
extern "C" __global__ void sgemm_across(const float* a, const float* b, float* c, int M, int N, int K) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += a[row * K + k] * b[k * N + column];
  }
  c[row * N + column] = sum;
}
