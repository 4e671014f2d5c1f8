// One of each instruction, for its encoding.
#include <cuda_fp16.h>
extern "C" __global__ void zoo(unsigned* p, float* f, int n) {
  unsigned a = p[0], b = p[1], c = p[2];
  float x = f[0], y = f[1], z = f[2];
  asm volatile("add.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(z));
  asm volatile("mul.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(z));
  asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f[5]) : "f"(y), "f"(z), "f"(x));
  asm volatile("max.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  asm volatile("{.reg .u32 t; add.u32 t, %1, %2; add.u32 %0, t, %3;}" : "=r"(p[4]) : "r"(a), "r"(b), "r"(c));
  asm volatile("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(p[5]) : "r"(a), "r"(b), "r"(c));
  asm volatile("mad.lo.u32 %0, %1, %2, %3;" : "=r"(p[6]) : "r"(a), "r"(b), "r"(c));
  asm volatile("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(p[7]) : "r"(a), "r"(b), "r"(c));
  asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(p[8]) : "r"(a), "r"(b), "r"(c));
  asm volatile("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p[9]) : "r"(a), "r"(b), "r"(c));
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(f[10]) : "f"(z));
  asm volatile("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(f[11]) : "r"(a));
  asm volatile("{.reg .b16 l, h; cvt.rn.f16x2.f32 %0, %1, %2;}" : "=r"(p[12]) : "f"(x), "f"(y));
  unsigned d0, d1, d2, d3;
  float s0 = f[20], s1 = f[21], s2 = f[22], s3 = f[23];
  d0 = p[30], d1 = p[31], d2 = p[32], d3 = p[33];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3) : "r"(d0), "r"(d1), "r"(d2), "r"(d3), "r"(a), "r"(b));
  f[24] = s0, f[25] = s1, f[26] = s2, f[27] = s3;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(p[40]) : "r"(a));
  extern __shared__ unsigned t[];
  t[threadIdx.x] = a;
  __syncthreads();
  unsigned q; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(q) : "r"(b)); p[41] = q;
  unsigned q0,q1,q2,q3; asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(q0),"=r"(q1),"=r"(q2),"=r"(q3) : "r"(c)); p[42] = q0^q1^q2^q3;
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(b), "r"(c));
  p[43] = x > y ? a : b;
}
