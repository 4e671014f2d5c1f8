__global__ void block_votes(const int* x, int* y, int n) {
  const int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  const int odd = __syncthreads_count(v & 1), all = __syncthreads_and(v >= 0), any = __syncthreads_or(v > 98);
  if (threadIdx.x == 0) y[blockIdx.x] = odd + 1000 * all + 10000 * any;
}
int main() { block_votes<<<8, 96>>>(nullptr, nullptr, 768); }
