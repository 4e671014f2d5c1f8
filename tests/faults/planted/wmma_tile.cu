// One 16 x 16 tile a warp with Tensor Cores, results through shared memory.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void wmma_tile(const half* A, const half* B, float* C, int M, int N, int K) {
  __shared__ float staged[4][16 * 16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 16, col = (blockIdx.x * 4 + warp) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {  //@loop
    wmma::load_matrix_sync(a, A + row * K + k, K);  //@load_a
    wmma::load_matrix_sync(b, B + k * N + col, N);  //@load_b
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(staged[warp], c, 16, wmma::mem_row_major);  //@stage
  __syncthreads();  //@staged
  for (int i = lane; i < 256; i += 32) {
    C[(row + i / 16) * N + col + i % 16] = staged[warp][i] * 0.125f;  //@store
  }
}

int main() {
  const int M = 32, N = 128, K = 64;
  half *A, *B;
  float* C;
  cudaMalloc(&A, M * K * sizeof(half));
  cudaMalloc(&B, K * N * sizeof(half));
  cudaMalloc(&C, M * N * sizeof(float));
  wmma_tile<<<dim3(N / 64, M / 16), 128>>>(A, B, C, M, N, K);
}
