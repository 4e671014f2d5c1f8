// Softmax of each row in three launches: the row's maximum, the sum of the exponentials, the quotients.
#ifndef THREADS
#define THREADS 128
#endif

// Over the CTA; every thread gets it.
template <class Join>
__device__ float joined(float value, Join join) {
  __shared__ float lanes[THREADS];
  lanes[threadIdx.x] = value;
  __syncthreads();
  for (int width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) lanes[threadIdx.x] = join(lanes[threadIdx.x], lanes[threadIdx.x + width]);
    __syncthreads();
  }
  return lanes[0];
}

extern "C" __global__ void row_max(const float* x, float* most, int columns) {
  const int row = blockIdx.x;
  float own = -3.402823466e38f;  // the least float
  for (int i = threadIdx.x; i < columns; i += THREADS) own = fmaxf(own, x[row * columns + i]);
  own = joined(own, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) most[row] = own;
}

// Several CTAs share a row: `sums` starts at 0.
extern "C" __global__ void exp_sum(const float* x, const float* most, float* y, float* sums, int columns) {
  const int row = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
  float own = 0;
  if (i < columns) y[row * columns + i] = own = __expf(x[row * columns + i] - most[row]);
  own = joined(own, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) atomicAdd(&sums[row], own);
}

extern "C" __global__ void normalise(float* y, const float* sums, int columns) {
  const int row = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
  if (i < columns) y[row * columns + i] /= sums[row];
}
