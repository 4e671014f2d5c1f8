// Runs recorded cubins on a real GPU, for the recordings under tests/data/gpu. Only the driver API.
//
//   g++ -O2 -std=c++20 run_cubins.cpp -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda -o run_cubins
//   ncu --csv --page raw --metrics … ./run_cubins PACK OUT        (counters; one launch a case, in the list's order)
//   ./run_cubins PACK OUT                                         (outputs: OUT/<case>.out)
//
// PACK/cases.txt holds a case a line, as pack_cubins writes it:
//   name cubin entry gx gy gz bx by bz dynamic_bytes inputs q_bytes kv_bytes scale batch heads seq_q seq_k
// Kernel arguments are (q, k, v, o, float scale, int batch, heads, seq_q, seq_k): both rungs declare these.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

void expect(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text ? text : "unknown error");
  std::exit(1);
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Case {
  std::string name, cubin, entry, inputs;
  unsigned grid[3], block[3], dynamic_bytes;
  size_t q_bytes, kv_bytes;
  float scale;
  int batch, heads, seq_q, seq_k;
};

bool read_case(const std::string& line, Case& c) {
  std::istringstream in(line);
  in >> c.name >> c.cubin >> c.entry >> c.grid[0] >> c.grid[1] >> c.grid[2] >> c.block[0] >> c.block[1] >> c.block[2] >>
      c.dynamic_bytes >> c.inputs >> c.q_bytes >> c.kv_bytes >> c.scale >> c.batch >> c.heads >> c.seq_q >> c.seq_k;
  return static_cast<bool>(in);
}

CUdeviceptr upload(const char* bytes, size_t size) {
  CUdeviceptr buffer = 0;
  expect(cuMemAlloc(&buffer, size), "cuMemAlloc");
  expect(cuMemcpyHtoD(buffer, bytes, size), "cuMemcpyHtoD");
  return buffer;
}

void run(const Case& c, const std::string& pack, const std::string& out) {
  CUmodule module_ = nullptr;
  CUfunction function = nullptr;
  expect(cuModuleLoad(&module_, (pack + "/" + c.cubin).c_str()), c.cubin);
  expect(cuModuleGetFunction(&function, module_, c.entry.c_str()), c.entry);
  if (c.dynamic_bytes > 48 * 1024)
    expect(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(c.dynamic_bytes)),
           "opt-in");
  const std::vector<char> inputs = bytes_of(pack + "/" + c.inputs);
  CUdeviceptr q = upload(inputs.data(), c.q_bytes), k = upload(inputs.data() + c.q_bytes, c.kv_bytes);
  CUdeviceptr v = upload(inputs.data() + c.q_bytes + c.kv_bytes, c.kv_bytes), o = 0;
  expect(cuMemAlloc(&o, c.q_bytes), "cuMemAlloc");
  expect(cuMemsetD8(o, 0xff, c.q_bytes), "cuMemsetD8");
  float scale = c.scale;
  int batch = c.batch, heads = c.heads, seq_q = c.seq_q, seq_k = c.seq_k;
  void* arguments[] = {&q, &k, &v, &o, &scale, &batch, &heads, &seq_q, &seq_k};
  expect(cuLaunchKernel(function, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.dynamic_bytes,
                        nullptr, arguments, nullptr),
         c.name);
  expect(cuCtxSynchronize(), c.name);
  std::vector<char> result(c.q_bytes);
  expect(cuMemcpyDtoH(result.data(), o, c.q_bytes), "cuMemcpyDtoH");
  std::ofstream(out + "/" + c.name + ".out", std::ios::binary).write(result.data(), std::streamsize(result.size()));
  for (CUdeviceptr buffer : {q, k, v, o}) cuMemFree(buffer);
  cuModuleUnload(module_);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: run_cubins PACK OUT\n"), 2;
  expect(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  expect(cuDeviceGet(&device, 0), "cuDeviceGet");
  expect(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  std::ifstream list(std::string(argv[1]) + "/cases.txt");
  std::string line;
  int cases = 0;
  for (Case c; std::getline(list, line);) {
    if (!read_case(line, c)) continue;
    run(c, argv[1], argv[2]);
    ++cases;
  }
  std::printf("%d cases\n", cases);
  return cases > 0 ? 0 : 1;
}
