// Lanes of one warp: what __syncwarp orders, and code that trusts the lanes to stay together.

//@ block=32 : clean
extern "C" __global__ void syncwarp_between(int* out, const int* in, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

//@ block=32 : race.warp write read
extern "C" __global__ void syncwarp_missing(int* out, const int* in, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x];  //@write
  out[threadIdx.x] = s[threadIdx.x ^ 1];  //@read
}

//@ block=32 : clean
extern "C" __global__ void own_word(int* out, const int* in, int n) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[threadIdx.x];
}

//@ block=32 : clean
extern "C" __global__ void reduction_by_shuffles(int* out, const int* in, int n) {
  int v = in[threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffff, v, step);
  out[threadIdx.x] = v;
}

//@ block=32 : race.warp step step
extern "C" __global__ void reduction_of_old(int* out, const int* in, int n) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = 0;
  __syncwarp();
#pragma unroll 1
  for (int step = 16; step > 0; step >>= 1) s[t] = s[t] + s[t + step];  //@step
  __syncwarp();
  out[t] = s[0];
}

//@ block=32 : clean
extern "C" __global__ void reduction_with_syncwarps(int* out, const int* in, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int step = 16; step > 0; step >>= 1) {
    const int other = s[t + step];
    __syncwarp();
    s[t] += other;
    __syncwarp();
  }
  out[t] = s[0];
}

//@ block=32 : clean
extern "C" __global__ void half_writes_then_syncwarp(int* out, const int* in, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x & 15];
}

//@ block=32 : race.warp write read
extern "C" __global__ void half_writes_no_syncwarp(int* out, const int* in, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = in[threadIdx.x];  //@write
  out[threadIdx.x] = s[threadIdx.x & 15];  //@read
}

//@ block=32 : clean
extern "C" __global__ void syncwarp_of_a_half(int* out, const int* in, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) {
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp(0xffff);
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}

//@ block=32 : race.warp read write
extern "C" __global__ void overwrite_no_syncwarp(int* out, const int* in, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const int v = s[threadIdx.x ^ 1];  //@read
  s[threadIdx.x] = v;  //@write
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 2];
}

//@ block=32 : clean
extern "C" __global__ void overwrite_after_syncwarp(int* out, const int* in, int n) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const int v = s[threadIdx.x ^ 1];
  __syncwarp();
  s[threadIdx.x] = v;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 2];
}

//@ block=64 : race.shared write read; never_written.shared read
extern "C" __global__ void syncwarp_is_no_barrier(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];  //@write
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 32];  //@read
}

//@ block=128 : clean
extern "C" __global__ void one_slice_a_warp(int* out, const int* in, int n) {
  __shared__ int s[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    s[warp][lane] = in[threadIdx.x] + i;
    __syncwarp();
    sum += s[warp][31 - lane];
    __syncwarp();
  }
  out[threadIdx.x] = sum;
}

//@ block=32 : shuffle.absent shuffle shuffle
extern "C" __global__ void shuffle_from_absent_lanes(int* out, const int* in, int n) {
  int v = in[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_down_sync(0x0000ffff, v, 8);  //@shuffle
  out[threadIdx.x] = v;
}

//@ block=32 : clean
extern "C" __global__ void shuffle_in_segments(int* out, const int* in, int n) {
  int v = in[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_down_sync(0x0000ffff, v, 8, 16);
  out[threadIdx.x] = v;
}

//@ block=32 : clean
extern "C" __global__ void shuffle_up_keeps_its_own(int* out, const int* in, int n) {
  out[threadIdx.x] = __shfl_up_sync(0xffffffff, in[threadIdx.x], 4);
}

//@ block=64 : clean
extern "C" __global__ void votes_and_matches(int* out, const int* in, int n) {
  const unsigned ballot = __ballot_sync(0xffffffff, in[threadIdx.x] & 1);
  const unsigned same = __match_any_sync(0xffffffff, in[threadIdx.x] & 3);
  out[threadIdx.x] = static_cast<int>(ballot ^ same) + __all_sync(0xffffffff, in[threadIdx.x] >= 0);
}

//@ block=128 : clean
extern "C" __global__ void sum_of_a_block(int* out, const int* in, int n) {
  __shared__ int sums[4];
  int v = in[threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_down_sync(0xffffffff, v, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}

//@ block=128 : race.shared write read
extern "C" __global__ void sum_of_a_block_too_soon(int* out, const int* in, int n) {
  __shared__ int sums[4];
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  __syncthreads();
  int v = in[threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_down_sync(0xffffffff, v, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;  //@write
  if (threadIdx.x == 96) out[0] = sums[0] + sums[1] + sums[2] + sums[3];  //@read
}
