// One launch: the block that comes last adds up what the others left.
__device__ unsigned int blocks_done = 0;
__global__ void last_block(const int* in, int* partial, int* total, int n) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int all = 0;
  for (int b = 0; b < gridDim.x; ++b) all += ((volatile int*)partial)[b];
  *total = all;
}
int main() { last_block<<<10, 64>>>(nullptr, nullptr, nullptr, 600); }
