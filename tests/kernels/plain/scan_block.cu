// Hillis and Steele, double-buffered, a row a block.
#define N 128
__global__ void scan_block(const float* in, float* out, int rows) {
  __shared__ float a[2][N];
  int from = 0;
  a[0][threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
  __syncthreads();
  for (int step = 1; step < N; step *= 2) {
    a[1 - from][threadIdx.x] = a[from][threadIdx.x] + (threadIdx.x >= step ? a[from][threadIdx.x - step] : 0.f);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * N + threadIdx.x] = a[from][threadIdx.x];
}
void go(const float* in, float* out, int rows) { scan_block<<<rows, N>>>(in, out, rows); }
