__global__ void monte_carlo(unsigned* hits, int trials) {
  unsigned state = threadIdx.x * 747796405u + 2891336453u, inside = 0;
  for (int t = 0; t < trials; ++t) {
    state = state * 1664525u + 1013904223u;
    const float x = (state >> 8) * (1.f / 16777216.f);
    state = state * 1664525u + 1013904223u;
    const float y = (state >> 8) * (1.f / 16777216.f);
    inside += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 1.f;
  }
  hits[threadIdx.x] = inside;
}
int main() { int trials = 200; monte_carlo<<<1, 64>>>(nullptr, trials); }
