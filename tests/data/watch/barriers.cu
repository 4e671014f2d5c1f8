// CTA barriers: what they order, and code that lacks one. See README.md for the lines that begin with //@.

//@ block=64 : clean
extern "C" __global__ void barrier_between(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

//@ block=64 : race.shared write read; never_written.shared read
extern "C" __global__ void barrier_missing(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];  //@write
  out[threadIdx.x] = s[threadIdx.x ^ 32];  //@read
}

//@ block=64 : clean
extern "C" __global__ void overwrite_after_barrier(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int v = s[threadIdx.x ^ 32];
  __syncthreads();
  s[threadIdx.x] = v + 1;
  out[threadIdx.x] = s[threadIdx.x];
}

//@ block=64 : race.shared read write
extern "C" __global__ void overwrite_without_barrier(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int v = s[threadIdx.x ^ 32];  //@read
  s[threadIdx.x] = v + 1;  //@write
  out[threadIdx.x] = v;
}

//@ block=64 : clean
extern "C" __global__ void double_buffer(int* out, const int* in, int n) {
  __shared__ int s[2][64];
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    s[i & 1][threadIdx.x] = in[threadIdx.x] + i;
    __syncthreads();  // one a step is enough: the other buffer is read
    sum += s[i & 1][threadIdx.x ^ 32];
  }
  out[threadIdx.x] = sum;
}

//@ block=64 : race.shared write read
extern "C" __global__ void single_buffer_one_barrier(int* out, const int* in, int n) {
  __shared__ int s[64];
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    s[threadIdx.x] = in[threadIdx.x] + i;  //@write
    __syncthreads();
    sum += s[threadIdx.x ^ 32];  //@read
  }
  out[threadIdx.x] = sum;
}

//@ block=128 : clean
extern "C" __global__ void tree_reduction(int* out, const int* in, int n) {
  __shared__ int s[128];
  s[threadIdx.x] = in[threadIdx.x];
  for (int step = 64; step > 0; step >>= 1) {
    __syncthreads();
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[0] = s[0];
}

//@ block=128 : race.shared write read
extern "C" __global__ void tree_reduction_step_without_barrier(int* out, const int* in, int n) {
  __shared__ int s[128];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) s[threadIdx.x] += s[threadIdx.x + 64];  //@write
  if (threadIdx.x < 32) out[threadIdx.x] = s[threadIdx.x + 32];  //@read
}

//@ block=256 : clean
extern "C" __global__ void transpose_tile(int* out, const int* in, int n) {
  __shared__ int tile[16][17];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[x][y];
}

//@ block=128 : clean
extern "C" __global__ void flag_of_one_value(int* out, const int* in, int n) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (in[threadIdx.x] >= 0) any = 1;  // every thread that writes writes the same
  __syncthreads();
  out[threadIdx.x] = any;
}

//@ block=64 : race.shared write write
extern "C" __global__ void two_writers(int* out, const int* in, int n) {
  __shared__ int last;
  if (threadIdx.x % 32 == 0) last = threadIdx.x;  //@write
  __syncthreads();
  out[threadIdx.x] = last;
}

//@ block=64 grid=2 : clean
extern "C" __global__ void barrier_in_uniform_branch(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  if (blockIdx.x == 0) {
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 32];
  }
}

//@ block=64 : barrier.uneven first second
extern "C" __global__ void barrier_in_both_branches(int* out, const int* in, int n) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = in[threadIdx.x];
    __syncthreads();  //@first
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 2 * in[threadIdx.x];
    __syncthreads();  //@second
    out[threadIdx.x] += 2;
  }
}

//@ block=96 : clean
extern "C" __global__ void early_exit_of_a_warp(int* out, const int* in, int n) {
  __shared__ int s[96];
  if (threadIdx.x >= 64) return;  // a barrier counts threads that have ended as arrived
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}

//@ block=64 : failure deadline deadlocks
extern "C" __global__ void barriers_that_never_open(int* out, const int* in, int n) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

//@ block=64 : failure deadline does_not_end
extern "C" __global__ void loop_without_end(int* out, const int* in, int n) {
  volatile int* flag = out;
  while (flag[0] != 7) {
  }
  out[threadIdx.x] = 1;
}

//@ block=128 : clean
extern "C" __global__ void counting_barriers(int* out, const int* in, int n) {
  const int positive = __syncthreads_count(in[threadIdx.x] > 3);
  const int all = __syncthreads_and(in[threadIdx.x] >= 0), any = __syncthreads_or(in[threadIdx.x] > 100);
  out[threadIdx.x] = positive + all + any;
}

//@ block=128 : clean
extern "C" __global__ void scan_with_two_buffers(int* out, const int* in, int n) {
  __shared__ int s[2][128];
  int from = 0;
  s[0][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    const int t = threadIdx.x;
    s[1 - from][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[threadIdx.x] = s[from][threadIdx.x];
}

//@ block=128 : race.shared read write
extern "C" __global__ void scan_in_place(int* out, const int* in, int n) {
  __shared__ int s[128];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int before = threadIdx.x >= 32 ? s[threadIdx.x - 32] : 0;  //@read
  s[threadIdx.x] += before;  //@write
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

//@ block=32 : clean
extern "C" __global__ void barrier_for_half_a_warp(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 16) {
    __syncthreads();  // the hardware counts threads that end as arrived, as it does behind an early return
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] += 2;
  }
}

//@ block=96 : clean
extern "C" __global__ void early_exit_within_a_warp(int* out, const int* in, int n) {
  __shared__ int s[80];
  if (threadIdx.x >= 80) return;
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[79 - threadIdx.x];
}

//@ block=64 : barrier.uneven early late
extern "C" __global__ void one_barrier_more_for_a_warp(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 32) {
    __syncthreads();  //@early
    out[threadIdx.x] += 1;
  }
  __syncthreads();  //@late
  out[threadIdx.x] += 2;
}
