__global__ void warp_votes(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = x[i];
  const unsigned same = __match_any_sync(0xffffffff, v);
  const int all = __all_sync(0xffffffff, v >= 0), any = __any_sync(0xffffffff, v == 7);
  const unsigned low = __reduce_min_sync(0xffffffff, unsigned(v));
  y[i] = __popc(same) + 100 * all + 1000 * any + 10000 * int(low);
}
int main() { warp_votes<<<2, 96>>>(nullptr, nullptr, 192); }
