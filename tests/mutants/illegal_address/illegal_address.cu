// Line 7 reads 4 TB past the end of q, where no buffer can be.
#include <cuda_fp16.h>

extern "C" __global__ void attention_outside(const half* q, const half* k, const half* v, half* o, float scale, int batch,
                                             int heads, int seq_q, int seq_k) {
  const size_t end = (size_t)batch * heads * seq_q * HEAD_DIM;
  o[threadIdx.x] = q[end + ((size_t)1 << 41) + threadIdx.x];
}
