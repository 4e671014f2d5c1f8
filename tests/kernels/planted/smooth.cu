// Each CTA smooths its part of x, round after round: a value becomes the mean of itself and two others, through shared
// memory. BUFFERS 1: a round's writes must wait for the last round's reads. BUFFERS 2: they go to the other buffer, and
// the barrier behind the reads is left over. SCOPE 32: a warp reads only what its own lanes wrote.
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef SCOPE
#define SCOPE 128
#endif
extern "C" __global__ void smooth(const float* x, float* y, int rounds) {
  __shared__ float tile[BUFFERS][128];
  const int thread = threadIdx.x, first = thread / SCOPE * SCOPE;
  float value = x[blockIdx.x * 128 + thread];
  for (int round = 0; round < rounds; ++round) {
    tile[round % BUFFERS][thread] = value;
    __syncthreads();  // after the writes
    const float before = tile[round % BUFFERS][first + (thread + SCOPE - 1) % SCOPE];
    const float behind = tile[round % BUFFERS][first + (thread + 1) % SCOPE];
    __syncthreads();  // after the reads
    value = (before + value + behind) * (1.0f / 3.0f);
  }
  y[blockIdx.x * 128 + thread] = value;
}
