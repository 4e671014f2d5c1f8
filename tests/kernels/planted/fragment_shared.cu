#include <cuda_fp16.h>
#include <mma.h>

// The product of two fragments. They are stored where all lanes see them.
extern "C" __global__ void fragment_shared(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  __shared__ float own[256];
  wmma::store_matrix_sync(own, sum, 16, wmma::mem_row_major);
  __syncwarp();
#pragma unroll 1
  for (int i = threadIdx.x; i < 256; i += 32) c[i] = own[i];
}
