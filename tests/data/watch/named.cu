// Named barriers: parts of a CTA, and arrivals that do not wait.

//@ block=64 : clean
extern "C" __global__ void producer_arrives(int* out, const int* in, int n) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x - 32];
  }
}

//@ block=64 : race.shared write read
extern "C" __global__ void consumer_does_not_wait(int* out, const int* in, int n) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = in[threadIdx.x];  //@write
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    const int v = s[threadIdx.x - 32];  //@read
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = v;
  }
}

//@ block=64 : race.shared overwrite read
extern "C" __global__ void arrival_does_not_take(int* out, const int* in, int n) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    s[threadIdx.x] = 0;  //@overwrite
    out[threadIdx.x] = s[threadIdx.x];
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x - 32];  //@read
  }
}

//@ block=96 : clean
extern "C" __global__ void barrier_of_two_warps(int* out, const int* in, int n) {
  __shared__ int s[64];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 32];
  }
}

//@ block=96 : race.shared write read
extern "C" __global__ void third_warp_is_not_ordered(int* out, const int* in, int n) {
  __shared__ int s[64];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = in[threadIdx.x];  //@write
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 32];
  } else {
    out[threadIdx.x] = s[threadIdx.x - 64];  //@read
  }
}

//@ block=64 : clean
extern "C" __global__ void ping_pong(int* out, const int* in, int n) {
  __shared__ int s[32];
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      s[threadIdx.x] = in[threadIdx.x] + i;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[threadIdx.x - 32];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
  out[threadIdx.x] = sum;
}

//@ block=64 : race.shared write read
extern "C" __global__ void ping_without_pong(int* out, const int* in, int n) {
  __shared__ int s[32];
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      s[threadIdx.x] = in[threadIdx.x] + i;  //@write
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += s[threadIdx.x - 32];  //@read
    }
  }
  out[threadIdx.x] = sum;
}
