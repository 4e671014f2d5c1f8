// c = a b with the sum over k in SPLITS parts, which a second launch adds up.
#ifndef SPLITS
#define SPLITS 4
#endif

extern "C" __global__ void parts(const float* a, const float* b, float* partial, int m, int n, int k) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, part = blockIdx.z;
  const int each = (k + SPLITS - 1) / SPLITS, first = part * each, end = min(k, first + each);
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = first; i < end; ++i) sum += a[row * k + i] * b[i * n + column];
  partial[(part * m + row) * n + column] = sum;
}

extern "C" __global__ void combine(const float* partial, float* c, int elements) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
  for (int part = 0; part < SPLITS; ++part) sum += partial[part * elements + i];
  c[i] = sum;
}
