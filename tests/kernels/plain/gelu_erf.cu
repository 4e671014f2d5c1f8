#include <math.h>
#include <torch/extension.h>

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * float(M_SQRT1_2))); }

__global__ void gelu_kernel(const float4* __restrict__ x, float4* __restrict__ y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  y[i] = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
}

torch::Tensor gelu_forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be on a GPU");
  auto y = torch::empty_like(x);
  const int64_t n = x.numel() / 4;
  gelu_kernel<<<(n + 255) / 256, 256>>>((const float4*)x.data_ptr<float>(), (float4*)y.data_ptr<float>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &gelu_forward); }
