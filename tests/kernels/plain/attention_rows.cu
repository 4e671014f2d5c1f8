// A warp a query row, in pairs of warps that meet at a barrier of their own, its number and count in registers. Both
// hosts have constants of the same names: the launch's own count.
template <int DEPTH, int WARPS>
__global__ void attention_rows(const float* q, const float* k, const float* v, float* o, int rows) {
  __shared__ float scores[WARPS][64];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * WARPS + warp;
  for (int key = lane; key <= row; key += 32) {
    float sum = 0;
    for (int i = 0; i < DEPTH; ++i) sum += q[row * DEPTH + i] * k[key * DEPTH + i];
    scores[warp][key] = sum * rsqrtf(float(DEPTH));
  }
  asm volatile("bar.sync %0, %1;" ::"r"(1 + warp / 2), "r"(rows) : "memory");
  float top = -1e30f, total = 0, out = 0;
  for (int key = 0; key <= row; ++key) top = fmaxf(top, scores[warp][key]);
  for (int key = 0; key <= row; ++key) {
    const float weight = expf(scores[warp][key] - top);
    total += weight;
    out += weight * v[key * DEPTH + lane];
  }
  o[row * DEPTH + lane] = out / total;
}
void elsewhere(float* x) { const int WARPS = 1, DEPTH = 8; dim3 block(WARPS * 32); attention_rows<DEPTH, WARPS>(x, x, x, x, 64); }
void run(float* x, int rows) {
  const int WARPS = 4, DEPTH = 32;
  dim3 block(WARPS * 32), grid(rows / WARPS);
  attention_rows<DEPTH, WARPS><<<grid, block>>>(x, x, x, x, rows);
}
void later(float* x) { const int WARPS = 2, DEPTH = 16; dim3 block(WARPS * 32); elsewhere(x + WARPS * DEPTH); }
