// Asynchronous copies to shared memory (cp.async) and their groups.

__device__ inline void copy_4(int* to, const int* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

//@ block=64 : clean
extern "C" __global__ void copy_awaited(int* out, const int* in, int n) {
  __shared__ int s[64];
  copy_4(&s[threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

//@ block=64 : race.copy copy read
extern "C" __global__ void copy_not_awaited(int* out, const int* in, int n) {
  __shared__ int s[64];
  copy_4(&s[threadIdx.x], &in[threadIdx.x]);  //@copy
  COMMIT();
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];  //@read
  __syncthreads();
  WAIT(0);
}

//@ block=64 : race.shared copy read; never_written.shared read
extern "C" __global__ void copy_awaited_no_barrier(int* out, const int* in, int n) {
  __shared__ int s[64];
  copy_4(&s[threadIdx.x], &in[threadIdx.x]);  //@copy
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = s[threadIdx.x ^ 32];  //@read
}

//@ block=64 : clean
extern "C" __global__ void own_copy(int* out, const int* in, int n) {
  __shared__ int s[64];
  copy_4(&s[threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  WAIT(0);  // a thread's own copies are there for it then
  out[threadIdx.x] = s[threadIdx.x];
}

//@ block=64 : clean
extern "C" __global__ void pipeline_of_two(int* out, const int* in, int n) {
  __shared__ int s[2][64];
  int sum = 0;
  copy_4(&s[0][threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  for (int i = 0; i < 4; ++i) {
    if (i + 1 < 4) copy_4(&s[(i + 1) & 1][threadIdx.x], &in[64 * (i + 1) + threadIdx.x]);
    COMMIT();
    WAIT(1);
    __syncthreads();
    sum += s[i & 1][threadIdx.x ^ 32];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

//@ block=64 : race.copy copy read
extern "C" __global__ void pipeline_waits_too_little(int* out, const int* in, int n) {
  __shared__ int s[2][64];
  int sum = 0;
  copy_4(&s[0][threadIdx.x], &in[threadIdx.x]);
  COMMIT();
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (i + 1 < 4) {
      copy_4(&s[(i + 1) & 1][threadIdx.x], &in[64 * (i + 1) + threadIdx.x]);  //@copy
      COMMIT();
    }
    WAIT(1);  // in the last step the only group left is the one that is needed
    __syncthreads();
    sum += s[i & 1][threadIdx.x ^ 32];  //@read
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

//@ block=64 : race.shared read copy
extern "C" __global__ void copy_over_what_is_read(int* out, const int* in, int n) {
  __shared__ int s[64];
  copy_4(&s[threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  WAIT(0);
  __syncthreads();
  const int v = s[threadIdx.x ^ 32];  //@read
  copy_4(&s[threadIdx.x], &in[64 + threadIdx.x]);  //@copy
  COMMIT();
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = v + s[threadIdx.x ^ 32];
}
