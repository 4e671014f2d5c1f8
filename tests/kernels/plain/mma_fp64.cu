// 8 x 8 of a product of doubles by the Tensor Cores.
__global__ void mma_fp64(const double* a, const double* b, double* c, int depth) {
  const int row = threadIdx.x / 4, quad = threadIdx.x % 4;
  double x = 0, y = 0;
  for (int k = 0; k < depth; k += 4)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(x), "+d"(y) : "d"(a[row * depth + k + quad]), "d"(b[row * depth + k + quad]));
  c[row * 8 + quad * 2] = x;
  c[row * 8 + quad * 2 + 1] = y;
}
int main() { mma_fp64<<<1, 32>>>(nullptr, nullptr, nullptr, 20); }
