#include <cstdint>
// A row of 16 x 8 tiles: products of 8-bit integers by the Tensor Cores, fragments straight from memory.
__global__ void mma_int8(const int8_t* a, const int8_t* b, int* c, int columns) {
  const int lane = threadIdx.x, row = lane / 4, quad = lane % 4, first = blockIdx.x * 8;
  const int* x = reinterpret_cast<const int*>(a);
  const int* y = reinterpret_cast<const int*>(b + first * 32);
  int d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(x[row * 8 + quad]), "r"(x[(row + 8) * 8 + quad]), "r"(x[row * 8 + quad + 4]), "r"(x[(row + 8) * 8 + quad + 4]),
                 "r"(y[row * 8 + quad]), "r"(y[row * 8 + quad + 4]));
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * columns + first + quad * 2 + i % 2] = d[i];
}
int main() { mma_int8<<<4, 32>>>(nullptr, nullptr, nullptr, 32); }
