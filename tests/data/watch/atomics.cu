// Atomics: what they order, and what they do not.

//@ block=128 : clean
extern "C" __global__ void shared_counter(int* out, const int* in, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (in[threadIdx.x] > 3) atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

//@ block=128 : clean
extern "C" __global__ void histogram(int* out, const int* in, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

//@ block=128 : race.shared zero add; never_written.shared add
extern "C" __global__ void histogram_not_cleared_in_time(int* out, const int* in, int n) {
  __shared__ int bins[128];
  bins[127 - threadIdx.x] = 0;  //@zero
  atomicAdd(&bins[threadIdx.x], in[threadIdx.x]);  //@add
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}

//@ block=64 : race.shared add read; race.warp add read
extern "C" __global__ void counter_read_too_soon(int* out, const int* in, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);  //@add
  out[threadIdx.x] = *static_cast<volatile int*>(&count);  //@read
}

//@ block=64 : clean
extern "C" __global__ void lock(int* out, const int* in, int n) {
  __shared__ int taken, sum;
  if (threadIdx.x == 0) taken = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&taken, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += in[threadIdx.x];
    __threadfence_block();
    atomicExch(&taken, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
