// Keeps the even ones of each warp's 32, in order.
__global__ void ballot_compact(const int* in, int* out, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32, lane = i % 32;
  const int v = i < n ? in[i] : 1;
  const bool keep = v % 2 == 0;
  const unsigned mask = __ballot_sync(0xffffffff, keep);
  if (keep) out[warp * 32 + __popc(mask & ((1u << lane) - 1))] = v;
  if (lane == 0) counts[warp] = __popc(mask);
}
int main() { ballot_compact<<<3, 64>>>(nullptr, nullptr, nullptr, 192); }
