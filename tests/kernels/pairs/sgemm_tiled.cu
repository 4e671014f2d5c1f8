// Each value of a tile is used 16 times. M, N and K are multiples of 16.
extern "C" __global__ void sgemm_tiled(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < K; k += 16) {
    a_tile[y][x] = a[row * K + k + x];
    b_tile[y][x] = b[(k + y) * N + column];
    __syncthreads();
    for (int inner = 0; inner < 16; ++inner) sum += a_tile[y][inner] * b_tile[inner][x];
    __syncthreads();
  }
  c[row * N + column] = sum;
}
