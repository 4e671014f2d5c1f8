// Included before a planted kernel's file where compute-sanitizer runs it (sanitizer_faults.py): what its main
// allocates gets contents as `attnscope check` gives them, and outputs are copied back at the end, so that initcheck
// sees what was never written.
#pragma once
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace planted {

enum class Role { in, out, inout };
struct Buffer {
  const char* name;
  const char* type;
  Role role;
};
inline const Buffer buffers[] = {PLANTED_BUFFERS};

struct Output {
  void* at;
  size_t bytes;
};
inline std::vector<Output> outputs;

template <class T>
void fill(std::vector<char>& bytes, double divided_by) {
  T* values = reinterpret_cast<T*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i)
    values[i] = static_cast<T>(static_cast<float>(i * 7919 % 100) / divided_by);
}

inline cudaError_t allocate(void** pointer, size_t bytes, const char* expression) {
  const cudaError_t error = cudaMalloc(pointer, bytes);
  for (const Buffer& buffer : buffers) {
    if (std::strcmp(buffer.name, expression + 1) != 0) continue;  // "&x"
    std::vector<char> contents(bytes, 0);
    const char* type = buffer.type;
    if (buffer.role == Role::out) {
      outputs.push_back({*pointer, bytes});
      return error;
    }
    if (buffer.role == Role::in) {
      if (std::strncmp(type, "float", 5) == 0)
        fill<float>(contents, 50);
      else if (std::strcmp(type, "double") == 0)
        fill<double>(contents, 50);
      else if (std::strncmp(type, "half", 4) == 0)
        fill<half>(contents, 50);
      else if (std::strstr(type, "char") != nullptr)
        fill<unsigned char>(contents, 1);
      else
        fill<int>(contents, 1);
    }
    cudaMemcpy(*pointer, contents.data(), bytes, cudaMemcpyHostToDevice);
    return error;
  }
  std::printf("no buffer is called %s\n", expression);
  return error;
}

inline int finish() {
  const cudaError_t error = cudaDeviceSynchronize();
  std::vector<char> host;
  for (const Output& output : outputs) {
    host.resize(output.bytes);
    cudaMemcpy(host.data(), output.at, output.bytes, cudaMemcpyDeviceToHost);
  }
  std::printf("finished: %s\n", cudaGetErrorString(error));
  return 0;
}

}  // namespace planted

#define cudaMalloc(pointer, bytes) planted::allocate(reinterpret_cast<void**>(pointer), bytes, #pointer)
