// Atomics of the system's scope, and 64-bit exchanges at a generic address, in shared memory or in global.
__global__ void atomics_system(unsigned* sums, unsigned long long* last, int n) {
  __shared__ unsigned long long mine[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = 0;
  if (i >= n) return;
  atomicAdd_system(sums, 1u), atomicMax_system(sums + 1, unsigned(i)), atomicOr_block(sums + 2, 1u << (i & 7));
  unsigned long long* p = i & 1 ? mine + threadIdx.x : last + i;
  atomicCAS(p, 0ull, 5ull + i);
  const unsigned long long before = atomicExch(p, 9ull);
  if (i & 1) last[i] = before;
}
int main() { atomics_system<<<3, 64>>>(nullptr, nullptr, 150); }
