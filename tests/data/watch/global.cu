// Global memory: between the warps of a CTA, between CTAs, and what nothing has written.

//@ block=64 grid=4 : clean
extern "C" __global__ void rows_of_their_own(int* out, const int* in, int n) {
  const int i = 64 * blockIdx.x + threadIdx.x;
  out[i] = in[i];
  out[i] += 1;
}

//@ block=64 grid=4 : race.grid write read
extern "C" __global__ void row_of_the_neighbour(int* out, const int* in, int n) {
  const int next = (blockIdx.x + 1) % gridDim.x;
  out[64 * blockIdx.x + threadIdx.x] = in[threadIdx.x];  //@write
  out[512 + 64 * blockIdx.x + threadIdx.x] = out[64 * next + threadIdx.x];  //@read
}

//@ block=64 grid=4 : race.grid write write
extern "C" __global__ void ctas_write_one_word(int* out, const int* in, int n) {
  if (threadIdx.x == 0) out[0] = blockIdx.x;  //@write
}

//@ block=64 grid=4 : clean
extern "C" __global__ void ctas_write_one_value(int* out, const int* in, int n) {
  if (in[threadIdx.x] >= 0) out[0] = 1;  // whoever comes last, it is 1
}

//@ block=32 grid=4 : race.grid step step
extern "C" __global__ void plain_increments(int* out, const int* in, int n) {
  if (threadIdx.x == 0) out[0] = out[0] + 1;  //@step
}

//@ block=64 grid=4 : clean
extern "C" __global__ void atomic_increments(int* out, const int* in, int n) { atomicAdd(&out[threadIdx.x & 3], 1); }

//@ block=64 grid=4 : race.grid add read
extern "C" __global__ void sum_read_by_others(int* out, const int* in, int n) {
  if (threadIdx.x == 0) atomicAdd(&out[0], in[blockIdx.x]);  //@add
  __syncthreads();
  out[64 + 64 * blockIdx.x + threadIdx.x] = out[0];  //@read
}

//@ block=64 grid=4 : clean
extern "C" __global__ void last_cta_sums(int* out, const int* in, int n) {
  __shared__ bool last;
  out[64 * blockIdx.x + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&out[1023], 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += *static_cast<volatile int*>(&out[64 * i + threadIdx.x]);
    out[512 + threadIdx.x] = sum;
  }
}

//@ block=64 grid=4 : race.grid write read
extern "C" __global__ void last_cta_sums_no_barrier(int* out, const int* in, int n) {
  __shared__ bool last;
  out[64 * blockIdx.x + threadIdx.x] = in[threadIdx.x];  //@write
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&out[1023], 1) == gridDim.x - 1;  // warp 1 may not have written yet
  __syncthreads();
  if (last) {
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < 4; ++i) sum += out[64 * i + threadIdx.x];  //@read
    out[512 + threadIdx.x] = sum;
  }
}

//@ block=64 grid=4 : race.grid write read
extern "C" __global__ void last_cta_sums_no_fence(int* out, const int* in, int n) {
  __shared__ bool last;
  out[64 * blockIdx.x + threadIdx.x] = in[threadIdx.x];  //@write
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&out[1023], 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < 4; ++i) sum += out[64 * i + threadIdx.x];  //@read
    out[512 + threadIdx.x] = sum;
  }
}

//@ block=32 grid=2 : clean
extern "C" __global__ void flag_after_a_fence(int* out, const int* in, int n) {
  volatile int* flag = &out[1023];
  if (blockIdx.x == 0) {
    out[threadIdx.x] = in[threadIdx.x];
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    while (*flag != 1) {
    }
    __threadfence();
    out[512 + threadIdx.x] = out[threadIdx.x];
  }
}

//@ block=32 grid=2 : race.grid write read
extern "C" __global__ void flag_without_a_fence(int* out, const int* in, int n) {
  volatile int* flag = &out[1023];
  if (blockIdx.x == 0) {
    out[threadIdx.x] = in[threadIdx.x];  //@write
    __syncwarp();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    while (*flag != 1) {
    }
    out[512 + threadIdx.x] = out[threadIdx.x];  //@read
  }
}

//@ block=32 grid=2 : race.grid flag wait
extern "C" __global__ void flag_that_is_plain(int* out, const int* in, int n) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) out[1023] = 1;  //@flag
  } else {
    out[512 + threadIdx.x] = out[1023];  //@wait
  }
}

//@ block=32 grid=4 : clean
extern "C" __global__ void look_back(int* out, const int* in, int n) {
  volatile int* flag = &out[1000];
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (flag[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = out[blockIdx.x - 1];
    }
    out[blockIdx.x] = before + in[blockIdx.x];
    __threadfence();
    flag[blockIdx.x] = 1;
  }
}

//@ block=32 grid=4 : clean
extern "C" __global__ void lock_between_ctas(int* out, const int* in, int n) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&out[1023], 0, 1) != 0) {
    }
    __threadfence();
    out[0] += in[blockIdx.x];
    __threadfence();
    atomicExch(&out[1023], 0);
  }
}

__device__ unsigned tickets;

//@ block=64 grid=4 : clean
extern "C" __global__ void ticket_in_a_variable(int* out, const int* in, int n) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = atomicInc(&tickets, gridDim.x - 1);
  __syncthreads();
  out[64 * mine + threadIdx.x] = in[threadIdx.x];
}

//@ block=64 grid=4 : clean
extern "C" __global__ void halves_of_words(int* out, const int* in, int n) {
  short* halves = reinterpret_cast<short*>(out);
  halves[gridDim.x * threadIdx.x + blockIdx.x] = static_cast<short>(in[threadIdx.x]);
}

//@ block=32 grid=2 : race.grid write write
extern "C" __global__ void vectors_that_overlap(int* out, const int* in, int n) {
  const int2 v = make_int2(in[threadIdx.x] + 1, static_cast<int>(blockIdx.x) + 20);
  *reinterpret_cast<int2*>(out + 2 * (threadIdx.x + 16 * blockIdx.x)) = v;  //@write
}

//@ block=64 : clean
extern "C" __global__ void scratch_with_barrier(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[512 + threadIdx.x] = out[threadIdx.x ^ 32];
}

//@ block=64 : race.global write read
extern "C" __global__ void scratch_without_barrier(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];  //@write
  out[512 + threadIdx.x] = out[threadIdx.x ^ 32];  //@read
}

//@ block=64 : race.global read write
extern "C" __global__ void scratch_overwritten(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const int v = out[threadIdx.x ^ 32];  //@read
  out[threadIdx.x] = v + 1;  //@write
}

//@ block=64 : race.global write write
extern "C" __global__ void warps_write_one_word(int* out, const int* in, int n) {
  if (threadIdx.x % 32 == 0) out[0] = threadIdx.x + 1;  //@write
}

//@ block=32 : race.warp write read
extern "C" __global__ void scratch_of_a_warp(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];  //@write
  out[512 + threadIdx.x] = out[threadIdx.x ^ 1];  //@read
}

//@ block=32 : clean
extern "C" __global__ void scratch_of_a_warp_synced(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[512 + threadIdx.x] = out[threadIdx.x ^ 1];
}

//@ block=64 filled=0 : never_written.global read read
extern "C" __global__ void adds_to_nothing(int* out, const int* in, int n) {
  out[threadIdx.x] += in[threadIdx.x];  //@read
}

//@ block=64 filled=0 : never_written.global add add
extern "C" __global__ void counts_from_nothing(int* out, const int* in, int n) {
  atomicAdd(&out[threadIdx.x & 7], 1);  //@add
}

//@ block=64 filled=0 : clean
extern "C" __global__ void written_before_read(int* out, const int* in, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[64 + threadIdx.x] = out[threadIdx.x ^ 32];
}

//@ block=64 filled=0 : never_written.global read read
extern "C" __global__ void tail_never_written(int* out, const int* in, int n) {
  if (threadIdx.x < 60) out[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[512 + threadIdx.x] = out[63 - threadIdx.x];  //@read
}

//@ block=64 filled=0 : clean
extern "C" __global__ void read_only_of_inputs(int* out, const int* in, int n) {
  out[threadIdx.x] = in[1023 - threadIdx.x] + in[threadIdx.x];
}
