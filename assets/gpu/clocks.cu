// Each SM's clock where the GPU's globaltimer moves on, before and after a launch whose warps write their SM's clocks:
// globaltimer then says how far the counts of two SMs are apart. Several CTAs for each SM, each long enough that every
// SM gets one.
struct Clock {  // as measure::SmClock
  unsigned long long clock, ns;
  unsigned sm, none;
};

__device__ unsigned long long timer() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) : : "memory");
  return ns;
}

extern "C" __global__ void __launch_bounds__(32) attnscope_clocks(Clock* all) {
  constexpr unsigned long long kNs = 20000;
  if (threadIdx.x != 0) return;
  const unsigned long long begin = timer();
  unsigned long long before = begin, ns = begin;
  while (before - begin < kNs) before = timer();
  do ns = timer();
  while (ns == before);
  Clock& own = all[blockIdx.x];
  own.clock = clock64();
  own.ns = ns;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own.sm));
}
