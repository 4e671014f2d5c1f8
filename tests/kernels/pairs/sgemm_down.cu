// The first index that comes to mind goes to the rows.
extern "C" __global__ void sgemm_down(const float* a, const float* b, float* c, int M, int N, int K) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  const int column = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + column];
  c[row * N + column] = sum;
}
