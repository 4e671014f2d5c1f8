// After a library's Q·K^T: softmax and P·V by hand. A warp owns four query rows, so each row of V is read once for
// four; a lane owns HEAD_DIM / 32 columns of O. The scores stay in global memory: it uses no shared memory.
#include <cuda_fp16.h>

namespace {
constexpr int kRows = 4, kColumns = HEAD_DIM / 32;
}

extern "C" __global__ void __launch_bounds__(128)
attnscope_softmax_pv(const float* __restrict__ scores, const half* __restrict__ v, half* __restrict__ o, int rows,
                     int keys, int pitch, int masked, int first_visible) {
  const long long head = blockIdx.y;
  const int lane = threadIdx.x % 32, first = (blockIdx.x * 4 + threadIdx.x / 32) * kRows;
  if (first >= rows) return;
  const half* v_head = v + head * keys * HEAD_DIM;
  const float* s[kRows];
  int visible[kRows], most = 0;
  float top[kRows], sum[kRows] = {}, out[kRows][kColumns] = {};
  for (int r = 0; r < kRows; ++r) {
    const int row = min(first + r, rows - 1);
    s[r] = scores + (head * rows + row) * pitch;
    visible[r] = masked ? max(0, min(row + first_visible, keys)) : keys;
    most = max(most, visible[r]);
    top[r] = __int_as_float(0xff800000);
    for (int key = lane; key < visible[r]; key += 32) top[r] = fmaxf(top[r], s[r][key]);
    for (int step = 16; step > 0; step /= 2) top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], step));
  }
  for (int base = 0; base < most; base += 32) {
    float p[kRows];  // of key base + lane
    for (int r = 0; r < kRows; ++r) {
      p[r] = base + lane < visible[r] ? __expf(s[r][base + lane] - top[r]) : 0.0f;
      sum[r] += p[r];
    }
    for (int k = 0; k < 32 && base + k < most; ++k) {
      const half* v_row = v_head + (long long)(base + k) * HEAD_DIM;
      float values[kColumns];
      for (int c = 0; c < kColumns; ++c) values[c] = __half2float(v_row[c * 32 + lane]);
      for (int r = 0; r < kRows; ++r) {
        const float weight = __shfl_sync(0xffffffffu, p[r], k);
        if (base + k >= visible[r]) continue;
        for (int c = 0; c < kColumns; ++c) out[r][c] += weight * values[c];
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int step = 16; step > 0; step /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], step);
    if (first + r >= rows) continue;
    const float inverse = visible[r] > 0 ? 1.0f / sum[r] : 0.0f;
    for (int c = 0; c < kColumns; ++c)
      o[(head * rows + first + r) * HEAD_DIM + c * 32 + lane] = __float2half_rn(out[r][c] * inverse);
  }
}
