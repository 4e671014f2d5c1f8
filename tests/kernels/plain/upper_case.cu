#include <string>
__global__ void upper_case(const unsigned char* in, unsigned char* out, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] >= 'a' && in[i] <= 'z' ? in[i] - 'a' + 'A' : in[i];
}
int main() {
  std::string text = "it's {a} \"test\"";
  upper_case<<<4, 64>>>(nullptr, nullptr, text.size());
}
