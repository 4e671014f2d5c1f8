// Records the results of a GPU's Tensor Cores for the products of tests/support/mma_inputs.h.
//
//   nvcc -std=c++17 -O2 -arch=native -I tests tests/gpu/record_mma.cu -o record_mma
//   ./record_mma COUNT DIRECTORY [WHOLE [GROUP]]
//
// Writes DIRECTORY/<kind>.hashes: 8 bytes per product, and the whole outputs of the first WHOLE products to
// <kind>.outputs. With GROUP, 8 bytes for this many products together, to <kind>.groups instead.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/mma_inputs.h"

using namespace attnscope::mma;

namespace {

void expect(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

// One warp per product. Fragments are laid out as in the PTX manual for m16n8k16.
template <Kind kKind>
__global__ void multiply(const Product* products, uint32_t (*out)[kM][kN], int count) {
  const int number = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (number >= count) return;
  const Product& p = products[number];
  const int row = lane / 4, pair = lane % 4 * 2;
  const auto two = [](uint32_t low, uint32_t high) { return low | high << 16; };
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) {
    const int m = row + i % 2 * 8, k = pair + i / 2 * 8;
    a[i] = two(p.a[m][k], p.a[m][k + 1]);
  }
  for (int i = 0; i < 2; ++i) b[i] = two(p.b[pair + 8 * i][row], p.b[pair + 8 * i + 1][row]);
  uint32_t (&d)[kM][kN] = out[number];
  if constexpr (kKind == Kind::f16_f16) {
    uint32_t c[2];
    for (int i = 0; i < 2; ++i) c[i] = two(p.c[row + 8 * i][pair], p.c[row + 8 * i][pair + 1]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; ++i) d[row + i / 2 * 8][pair + i % 2] = c[i / 2] >> 16 * (i % 2) & 0xffff;
  } else {
    float c[4];
    for (int i = 0; i < 4; ++i) c[i] = __uint_as_float(p.c[row + i / 2 * 8][pair + i % 2]);
    if constexpr (kKind == Kind::bf16_f32)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; ++i) d[row + i / 2 * 8][pair + i % 2] = __float_as_uint(c[i]);
  }
}

void write(const std::string& path, const void* bytes, size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes, 1, size, file) != size || std::fclose(file) != 0) {
    std::fprintf(stderr, "%s could not be written\n", path.c_str());
    std::exit(1);
  }
}

template <Kind kKind>
void record(int count, int whole, int group, const std::string& directory) {
  std::vector<Product> products;
  products.reserve(count);
  for (int i = 0; i < count; ++i) products.push_back(product(kKind, static_cast<uint32_t>(i)));
  Product* inputs = nullptr;
  uint32_t (*outputs)[kM][kN] = nullptr;
  expect(cudaMalloc(&inputs, sizeof(Product) * count), "cudaMalloc");
  expect(cudaMalloc(&outputs, sizeof(*outputs) * count), "cudaMalloc");
  expect(cudaMemcpy(inputs, products.data(), sizeof(Product) * count, cudaMemcpyHostToDevice), "cudaMemcpy");
  multiply<kKind><<<(count + 7) / 8, 256>>>(inputs, outputs, count);
  std::vector<uint32_t> back(static_cast<size_t>(count) * kM * kN);
  expect(cudaMemcpy(back.data(), outputs, back.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  expect(cudaFree(inputs), "cudaFree");
  expect(cudaFree(outputs), "cudaFree");
  std::vector<uint64_t> hashes;
  for (int i = 0; i < count; ++i)
    hashes.push_back(hash_of(reinterpret_cast<const uint32_t (&)[kM][kN]>(back[static_cast<size_t>(i) * kM * kN])));
  if (group > 1) {
    std::vector<uint64_t> groups;
    for (int i = 0; i + group <= count; i += group) groups.push_back(hash_of(&hashes[i], group));
    return write(directory + "/" + name_of(kKind) + ".groups", groups.data(), groups.size() * 8);
  }
  write(directory + "/" + name_of(kKind) + ".hashes", hashes.data(), hashes.size() * 8);
  write(directory + "/" + name_of(kKind) + ".outputs", back.data(), static_cast<size_t>(whole) * kM * kN * 4);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "record_mma COUNT DIRECTORY [WHOLE [GROUP]]\n"), 2;
  const int count = std::atoi(argv[1]), whole = argc > 3 ? std::atoi(argv[3]) : 0;
  const int group = argc > 4 ? std::atoi(argv[4]) : 1;
  record<Kind::f16_f32>(count, whole, group, argv[2]);
  record<Kind::bf16_f32>(count, whole, group, argv[2]);
  record<Kind::f16_f16>(count, whole, group, argv[2]);
  return 0;
}
