#include <mma.h>
using namespace nvcuda;
// 16 x 16 of a product in TF32, as wmma has it.
__global__ void mma_tf32(const float* a, const float* b, float* c, int depth) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < depth; k += 8) {
    wmma::load_matrix_sync(x, a + k, depth);
    wmma::load_matrix_sync(y, b + k, depth);
    for (int i = 0; i < x.num_elements; ++i) x.x[i] = wmma::__float_to_tf32(x.x[i]);
    for (int i = 0; i < y.num_elements; ++i) y.x[i] = wmma::__float_to_tf32(y.x[i]);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
int main() { mma_tf32<<<1, 32>>>(nullptr, nullptr, nullptr, 32); }
