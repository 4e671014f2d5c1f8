// Between the two products of a library's attention: turns a row's scores into probabilities. One warp per row; a key
// that the row does not see gets probability 0, so the second product can be a plain one.
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256)
attnscope_softmax(const float* __restrict__ scores, half* __restrict__ probabilities, long long rows, int rows_a_head,
                  int keys, int pitch, int masked, int first_visible) {
  const long long row = blockIdx.x * 8LL + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32, place = static_cast<int>(row % rows_a_head);
  const int visible = masked ? max(0, min(place + first_visible, keys)) : keys;
  const float* s = scores + row * pitch;
  half* p = probabilities + row * pitch;
  float top = __int_as_float(0xff800000), sum = 0;
  for (int key = lane; key < visible; key += 32) top = fmaxf(top, s[key]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  for (int key = lane; key < visible; key += 32) sum += __expf(s[key] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const float inverse = 1.0f / sum;
  for (int key = lane; key < keys; key += 32)
    p[key] = __float2half_rn(key < visible ? __expf(s[key] - top) * inverse : 0.0f);
}
