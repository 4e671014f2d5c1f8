// Line 7 names something that is not declared.
#include <cuda_fp16.h>

extern "C" __global__ void attention_broken(const half* q, const half* k, const half* v, half* o, float scale, int batch,
                                            int heads, int seq_q, int seq_k) {
  // the name below is missing on purpose
  o[threadIdx.x] = undeclared_name;
}
