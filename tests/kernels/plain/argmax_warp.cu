struct Best { float value; int index; };
template <int WIDTH> __device__ Best best_of(Best mine) {
  for (int o = WIDTH / 2; o > 0; o /= 2) {
    const Best other{__shfl_xor_sync(0xffffffff, mine.value, o, WIDTH), __shfl_xor_sync(0xffffffff, mine.index, o, WIDTH)};
    if (other.value > mine.value || (other.value == mine.value && other.index < mine.index)) mine = other;
  }
  return mine;
}
__global__ void argmax_warp(const float* x, int* index, double* value, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16, lane = threadIdx.x % 16;
  Best mine{-1e30f, -1};
  for (int c = lane; row < rows && c < cols; c += 16)
    if (x[row * cols + c] > mine.value) mine = {x[row * cols + c], c};
  mine = best_of<16>(mine);
  const double shared_by_all = __shfl_sync(0xffffffff, double(mine.value) * 2.0, 0, 16);
  if (row < rows && lane == 3) index[row] = mine.index, value[row] = shared_by_all;
}
int main() { int rows = 10, cols = 37; argmax_warp<<<2, 96>>>(nullptr, nullptr, nullptr, rows, cols); }
