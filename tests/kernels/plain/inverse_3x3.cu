template <int N> struct Matrix { double m[N][N]; };
template <int N> __device__ bool invert(Matrix<N>& a, Matrix<N>& out) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) out.m[i][j] = i == j;
  for (int c = 0; c < N; ++c) {
    int pivot = c;
    for (int r = c + 1; r < N; ++r)
      if (fabs(a.m[r][c]) > fabs(a.m[pivot][c])) pivot = r;
    for (int k = 0; k < N; ++k) {
      double t = a.m[c][k];
      a.m[c][k] = a.m[pivot][k], a.m[pivot][k] = t;
      t = out.m[c][k], out.m[c][k] = out.m[pivot][k], out.m[pivot][k] = t;
    }
    const double d = 1.0 / a.m[c][c];
    for (int k = 0; k < N; ++k) a.m[c][k] *= d, out.m[c][k] *= d;
    for (int r = 0; r < N; ++r)
      if (r != c) {
        const double f = a.m[r][c];
        for (int k = 0; k < N; ++k) a.m[r][k] -= f * a.m[c][k], out.m[r][k] -= f * out.m[c][k];
      }
  }
  return true;
}
__global__ void inverse_3x3(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Matrix<3> a, b;
  for (int k = 0; k < 9; ++k) a.m[k / 3][k % 3] = in[i * 9 + k] + (k % 4 == 0 ? 8.0 : 0.0);
  invert(a, b);
  for (int k = 0; k < 9; ++k) out[i * 9 + k] = b.m[k / 3][k % 3];
}
int main() { const int n = 40; inverse_3x3<<<2, 32>>>(nullptr, nullptr, n); }
