struct Matrix { float* elements; int rows, columns; };
// c = alpha · aᵀ · b + beta · c, the matrices given as structs.
__global__ void gemm_scaled(const Matrix a, const Matrix b, Matrix c, float alpha, float beta) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c.rows || j >= c.columns) return;
  float sum = 0;
  for (int k = 0; k < a.rows; ++k) sum += a.elements[k * a.columns + i] * b.elements[k * b.columns + j];
  float* to = c.elements + i * c.columns + j;
  *to = alpha * sum + beta * *to;
}
int main() { gemm_scaled<<<dim3(3, 2), dim3(16, 8)>>>({}, {}, {}, 1, 0); }
