__device__ __forceinline__ unsigned lane() {
  unsigned value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}
__global__ void inline_ptx(const unsigned* a, const unsigned* b, unsigned* c, int n) {
  __shared__ unsigned s[64];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned field, joined, wide_low;
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(a[i]));
  asm("bfi.b32 %0, %1, %2, 8, 9;" : "=r"(joined) : "r"(a[i]), "r"(b[i]));
  asm volatile("{\n\t.reg .u64 w;\n\tmul.wide.u32 w, %1, %2;\n\tshr.u64 w, w, 7;\n\tcvt.u32.u64 %0, w;\n\t}"
               : "=r"(wide_low) : "r"(a[i]), "r"(b[i]));
  s[threadIdx.x] = field ^ joined ^ wide_low;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  c[i] = s[threadIdx.x ^ 33] + lane();
}
int main() { inline_ptx<<<2, 64>>>(nullptr, nullptr, nullptr, 128); }
