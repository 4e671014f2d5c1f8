#include <cuda_fp16.h>
#include <mma.h>

// The product of two fragments. Each lane keeps its elements in an array of its own and reads others from it.
extern "C" __global__ void fragment_local(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  float own[256];  // another one for each thread
  for (int i = 0; i < sum.num_elements; ++i) own[threadIdx.x * 8 + i] = sum.x[i];
#pragma unroll 1
  for (int i = threadIdx.x; i < 256; i += 32) c[i] = own[i];
}
