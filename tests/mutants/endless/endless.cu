// Waits for a flag that nobody sets: the load is volatile, so the loop stays.
#include <cuda_fp16.h>

extern "C" __global__ void attention_endless(const half* q, const half* k, const half* v, half* o, float scale, int batch,
                                             int heads, int seq_q, int seq_k) {
  volatile __shared__ int flag;
  flag = 0;
  while (flag == 0) {
  }
  o[threadIdx.x] = q[threadIdx.x];
}
