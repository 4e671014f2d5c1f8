// The online softmax of one tile of scores, as the rungs with scores in registers do it: the row's maximum over four lanes, the
// weights by powers of 2, the running sum and the factor of what came before. A lane holds two rows of every 8 columns, as
// mma.sync leaves them.
//
// clock64 is read before and after REPEATS tiles. The first round only warms the instruction cache; the second one's clocks a
// tile go into `cycles`. All tiles have the same scores, so the weights over the sum of one tile are the rows' softmax.
#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif

constexpr int REPEATS = 8, ROUNDS = 2;
constexpr int ROW_TILES = BLOCK_M / (16 * NUM_WARPS);  // of a warp
constexpr int COLUMN_TILES = BLOCK_N / 8;
constexpr float LOG2E = 1.4426950408889634f;

struct State {
  float m = -1e30f, l = 0, factor = 1;  // running maximum and sum, and what scales the sums before it
};

__device__ __forceinline__ float over_row(float value, bool maximum) {
#pragma unroll
  for (int lanes = 1; lanes < 4; lanes *= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, lanes);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  return value;
}

__device__ __forceinline__ void fragment(float (&weights)[ROW_TILES][COLUMN_TILES][4], State (&states)[ROW_TILES][2],
                                         float (&scores)[ROW_TILES][COLUMN_TILES][4]) {
#pragma unroll
  for (int row = 0; row < ROW_TILES; ++row)
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      float largest = -1e30f;
#pragma unroll
      for (int column = 0; column < COLUMN_TILES; ++column)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          float& score = scores[row][column][2 * upper + pair];
          asm volatile("" : "+f"(score));  // the next tile's scores are new to the compiler
          largest = fmaxf(largest, score);
        }
      State& state = states[row][upper];
      const float m = fmaxf(state.m, over_row(largest, true) * LOG2E);
      float sum = 0;
#pragma unroll
      for (int column = 0; column < COLUMN_TILES; ++column)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          float& weight = weights[row][column][2 * upper + pair];
          weight = exp2f(scores[row][column][2 * upper + pair] * LOG2E - m);
          asm volatile("" : "+f"(weight));  // as if the product used it
          sum += weight;
        }
      state.factor = exp2f(state.m - m);
      state.l = state.l * state.factor + over_row(sum, false);
      state.m = m;
    }
}

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
    softmax_tile(const float* __restrict__ s, float* __restrict__ p, float* __restrict__ cycles) {
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, column_of_lane = threadIdx.x % 4 * 2;
  float scores[ROW_TILES][COLUMN_TILES][4], weights[ROW_TILES][COLUMN_TILES][4];
  State states[ROW_TILES][2];
  for (int row = 0; row < ROW_TILES; ++row)
    for (int column = 0; column < COLUMN_TILES; ++column)
      for (int part = 0; part < 4; ++part)
        scores[row][column][part] = s[((warp * ROW_TILES + row) * 16 + group + part / 2 * 8) * BLOCK_N + column * 8 +
                                      column_of_lane + part % 2];
  long long span = 0;
#pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    __syncthreads();
    const long long began = clock64();
#pragma unroll 1
    for (int repeat = 0; repeat < REPEATS; ++repeat) fragment(weights, states, scores);
    __syncthreads();
    span = clock64() - began;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<float>(span) / REPEATS;
  for (int row = 0; row < ROW_TILES; ++row)
    for (int column = 0; column < COLUMN_TILES; ++column)
      for (int part = 0; part < 4; ++part)
        p[((warp * ROW_TILES + row) * 16 + group + part / 2 * 8) * BLOCK_N + column * 8 + column_of_lane + part % 2] =
            weights[row][column][part] * (REPEATS * ROUNDS) / states[row][part / 2].l;
}
