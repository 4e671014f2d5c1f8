// Memory that nothing has written, and accesses outside or out of step.

//@ block=64 : never_written.shared read read
extern "C" __global__ void shared_never_written(int* out, const int* in, int n) {
  __shared__ int s[64];
  if (n < 0) s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];  //@read
}

//@ block=64 : clean
extern "C" __global__ void shared_cleared(int* out, const int* in, int n) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < 256; i += 64) s[i] = 0;
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}

//@ block=64 : never_written.shared read read
extern "C" __global__ void shared_tail_not_cleared(int* out, const int* in, int n) {
  __shared__ int s[100];
  for (int i = threadIdx.x; i < 96; i += 64) s[i] = 0;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < 100; i += 64) sum += s[i];  //@read
  out[threadIdx.x] = sum;
}

//@ block=64 dynamic=256 : clean
extern "C" __global__ void dynamic_shared(int* out, const int* in, int n) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[63 - threadIdx.x];
}

//@ block=64 dynamic=128 : failure launch shared_memory
extern "C" __global__ void dynamic_shared_too_small(int* out, const int* in, int n) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[63 - threadIdx.x];
}

//@ block=64 : failure launch outside_every_buffer
extern "C" __global__ void past_the_end(int* out, const int* in, int n) { out[threadIdx.x + n] = in[threadIdx.x]; }

//@ block=64 : failure launch not_a_multiple
extern "C" __global__ void vector_out_of_step(int* out, const int* in, int n) {
  const int4 v = *reinterpret_cast<const int4*>(in + 1 + 4 * threadIdx.x);
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

//@ block=64 : clean
extern "C" __global__ void vector_in_step(int* out, const int* in, int n) {
  const int4 v = reinterpret_cast<const int4*>(in)[threadIdx.x];
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

//@ block=32 : clean
extern "C" __global__ void local_array(int* out, const int* in, int n) {
  int a[128];
  for (int i = 0; i < n / 8; ++i) a[i] = in[i] + i;
  out[threadIdx.x] = a[in[threadIdx.x] & 15];
}

//@ block=32 : never_written.local read read
extern "C" __global__ void local_array_in_part(int* out, const int* in, int n) {
  int a[16];
#pragma unroll 1
  for (int i = 0; i < (in[0] & 7); ++i) a[i] = in[i];
  out[threadIdx.x] = a[in[threadIdx.x] & 15];  //@read
}

//@ block=64 : clean
extern "C" __global__ void halves_of_a_word(int* out, const int* in, int n) {
  __shared__ short s[128];
  s[threadIdx.x] = static_cast<short>(in[threadIdx.x]);
  s[127 - threadIdx.x] = static_cast<short>(in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[64 + threadIdx.x];
}

//@ block=64 : clean
extern "C" __global__ void vectors_of_a_row(int* out, const int* in, int n) {
  __shared__ __align__(16) int s[256];
  reinterpret_cast<int4*>(s)[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];
  __syncthreads();
  const int4 v = reinterpret_cast<const int4*>(s)[63 - threadIdx.x];
  out[threadIdx.x] = v.x + v.w + s[threadIdx.x];
}

//@ block=64 : race.shared write read; never_written.shared read
extern "C" __global__ void vector_over_a_word(int* out, const int* in, int n) {
  __shared__ __align__(16) int s[256];
  reinterpret_cast<int4*>(s)[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];  //@write
  out[threadIdx.x] = s[(4 * threadIdx.x + 130) & 255];  //@read
}

//@ block=64 : failure launch outside_every_buffer
extern "C" __global__ void before_the_start(int* out, const int* in, int n) {
  out[static_cast<int>(threadIdx.x) - 40] = in[threadIdx.x];
}

//@ block=64 : failure launch outside_every_buffer
extern "C" __global__ void reads_past_the_end(int* out, const int* in, int n) {
  out[threadIdx.x] = in[n - 32 + threadIdx.x];
}

//@ block=64 : failure launch read-only_buffer
extern "C" __global__ void writes_its_input(int* out, const int* in, int n) {
  const_cast<int*>(in)[threadIdx.x] = 0;
  out[threadIdx.x] = 1;
}

//@ block=64 : failure launch shared_memory
extern "C" __global__ void shared_past_the_end(int* out, const int* in, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + (n >> 1)];
}

//@ block=64 : failure launch not_a_multiple
extern "C" __global__ void shared_out_of_step(int* out, const int* in, int n) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < 256; i += 64) s[i] = in[i];
  __syncthreads();
  const int2 v = *reinterpret_cast<const int2*>(s + 1 + 2 * threadIdx.x);
  out[threadIdx.x] = v.x + v.y;
}

//@ block=32 : failure launch local_memory
extern "C" __global__ void local_past_the_end(int* out, const int* in, int n) {
  int a[128];
  for (int i = 0; i < n / 8; ++i) a[i] = in[i] + i;
  out[threadIdx.x] = a[in[threadIdx.x] + (n << 4)];
}
