__global__ void division_64(const long long* a, const long long* b, long long* q, long long* r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  q[i] = a[i] / b[i];
  r[i] = (long long)((unsigned long long)a[i] % (unsigned long long)(b[i] + 1));
}
int main() { const int n = 200; division_64<<<(n + 31) / 32, 32>>>(nullptr, nullptr, nullptr, nullptr, n); }
