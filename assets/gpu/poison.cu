// The contents of an output before a kernel runs (app/check/guarded_buffer.h). DTYPE as for every kernel: 2 is f32.
#if DTYPE == 2
using Word = unsigned;
#else
using Word = unsigned short;
#endif
constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads) attnscope_poison(Word* tensor, long long elements, unsigned poison) {
  for (long long i = blockIdx.x * static_cast<long long>(kThreads) + threadIdx.x; i < elements;
       i += static_cast<long long>(kThreads) * gridDim.x)
    tensor[i] = static_cast<Word>(poison);
}
