// A 32 by 32 tile of the output and 64 threads: each value read from shared memory is used four times. M, N and K are
// multiples of 32.
extern "C" __global__ void sgemm_registers(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[16][36];  // [k][row], so that four rows are one load
  __shared__ float b_tile[16][32];
  const int thread = threadIdx.x, x = thread % 8, y = thread / 8;
  const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int k = 0; k < K; k += 16) {
    for (int i = 0; i < 2; ++i) {
      const int row = thread / 4 + 16 * i, inner = thread % 4 * 4;
      const float4 left = *(const float4*)&a[(first_row + row) * K + k + inner];
      a_tile[inner][row] = left.x;
      a_tile[inner + 1][row] = left.y;
      a_tile[inner + 2][row] = left.z;
      a_tile[inner + 3][row] = left.w;
      *(float4*)&b_tile[y + 8 * i][4 * x] = *(const float4*)&b[(k + y + 8 * i) * N + first_column + 4 * x];
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < 16; ++inner) {
      const float4 left = *(const float4*)&a_tile[inner][4 * y];
      const float4 right = *(const float4*)&b_tile[inner][4 * x];
      const float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += l[i] * r[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[(first_row + 4 * y + i) * N + first_column + 4 * x] =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
