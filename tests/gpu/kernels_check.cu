// Decides on a GPU whether rungs 1 and 2 are correct: a spread of configs on several problems, compared with attention
// in double precision on the CPU. Self-contained: NVRTC and the driver API, nothing of the program.
//
//   nvcc -O3 -std=c++17 kernels_check.cu -o kernels_check -lnvrtc -lcuda
//   ./kernels_check ../../kernels /usr/local/cuda/include [all]
//
// Prints a line per config: what was expected, the result, the largest relative Frobenius error over the problems, and
// the median time at B1 H8 S512 D64 (measured, hot). `all` runs every legal config of the manifest instead of the
// spread. The spread takes about four minutes, nearly all of it compiling.
// Exit status 0: every sound config is right on every problem, and every config whose warps do not divide its rows is wrong
// on some problem. Configs with a light barrier (SYNC_POLICY below 5) are raced on purpose: reported, not judged.
#include <cuda.h>
#include <nvrtc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <cuda_fp16.h>

namespace {

void expect(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
  std::exit(2);
}

struct Problem {
  int batch, heads, seq_q, seq_k, head_dim, causal;  // causal: 0 none, 1 top_left, 2 bottom_right
};

const Problem kProblems[] = {{1, 8, 512, 512, 64, 0}, {1, 2, 512, 512, 64, 2}, {1, 2, 333, 333, 64, 0}, {2, 3, 333, 333, 64, 2},
                             {1, 2, 333, 333, 64, 1}, {1, 2, 100, 300, 64, 2}, {1, 2, 300, 100, 64, 2}, {1, 2, 300, 100, 64, 1},
                             {1, 1, 1, 1, 64, 0},     {1, 2, 512, 512, 128, 0}, {1, 2, 333, 300, 128, 2}, {1, 2, 65, 129, 128, 1}};

struct Tensors {
  std::vector<half> q, k, v;
  std::vector<double> reference;  // [batch, heads, seq_q, head_dim]
};

int visible_keys(const Problem& p, int row) {
  if (p.causal == 1) return std::min(row + 1, p.seq_k);
  if (p.causal == 2) return std::max(0, std::min(row + 1 + p.seq_k - p.seq_q, p.seq_k));
  return p.seq_k;
}

void reference_head(const Problem& p, Tensors& t, size_t head) {
  const size_t d_count = size_t(p.head_dim);
  std::vector<double> weight(size_t(p.seq_k));
  for (int row = 0; row < p.seq_q; ++row) {
    const half* q = &t.q[(head * p.seq_q + row) * d_count];
    double* out = &t.reference[(head * p.seq_q + row) * d_count];
    const int keys = visible_keys(p, row);
    double largest = -INFINITY, sum = 0;
    for (int key = 0; key < keys; ++key) {
      const half* k = &t.k[(head * p.seq_k + key) * d_count];
      double dot = 0;
      for (size_t d = 0; d < d_count; ++d) dot += double(float(q[d])) * double(float(k[d]));
      weight[key] = dot / std::sqrt(double(d_count));
      largest = std::max(largest, weight[key]);
    }
    for (int key = 0; key < keys; ++key) sum += weight[key] = std::exp(weight[key] - largest);
    for (int key = 0; key < keys; ++key) {
      const half* v = &t.v[(head * p.seq_k + key) * d_count];
      for (size_t d = 0; d < d_count; ++d) out[d] += weight[key] / sum * double(float(v[d]));
    }
  }
}

Tensors make_tensors(const Problem& p) {
  Tensors t;
  std::mt19937 random(42);
  std::normal_distribution<float> normal;
  const size_t heads = size_t(p.batch) * p.heads;
  auto fill = [&](std::vector<half>& tensor, size_t rows) {
    tensor.resize(heads * rows * p.head_dim);
    for (half& x : tensor) x = __float2half(normal(random));
  };
  fill(t.q, p.seq_q);
  fill(t.k, p.seq_k);
  fill(t.v, p.seq_k);
  t.reference.assign(t.q.size(), 0.0);
  std::vector<std::thread> threads;
  for (size_t head = 0; head < heads; ++head) threads.emplace_back([&, head] { reference_head(p, t, head); });
  for (std::thread& thread : threads) thread.join();
  return t;
}

struct OnDevice {
  CUdeviceptr q, k, v, o;
};

CUdeviceptr upload(const std::vector<half>& host) {
  CUdeviceptr at = 0;
  expect(cuMemAlloc(&at, host.size() * sizeof(half)), "cuMemAlloc");
  expect(cuMemcpyHtoD(at, host.data(), host.size() * sizeof(half)), "cuMemcpyHtoD");
  return at;
}

using Knobs = std::map<std::string, int>;

struct Rung {
  std::string file, entry, source;
};

struct Module {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  bool too_much_shared = false;
};

// An empty module when the assembler refuses static shared memory; any other refusal ends the program.
Module compile(const Rung& rung, const Knobs& knobs, const Problem& p, const std::string& include, int arch) {
  std::vector<std::string> options{"--gpu-architecture=sm_" + std::to_string(arch), "-I" + include, "--use_fast_math",
                                   "-DHEAD_DIM=" + std::to_string(p.head_dim), "-DCAUSAL=" + std::to_string(p.causal),
                                   "-DDTYPE=0", "-DATTN_T=half"};
  for (const auto& [name, value] : knobs) options.push_back("-D" + name + "=" + std::to_string(value));
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  nvrtcProgram program;
  nvrtcCreateProgram(&program, rung.source.c_str(), rung.file.c_str(), 0, nullptr, nullptr);
  const nvrtcResult result = nvrtcCompileProgram(program, int(pointers.size()), pointers.data());
  Module made;
  if (result != NVRTC_SUCCESS) {
    size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    made.too_much_shared = log.find("too much shared data") != std::string::npos;
    if (!made.too_much_shared) {
      std::fprintf(stderr, "%s does not compile:\n%s\n", rung.file.c_str(), log.c_str());
      std::exit(2);
    }
  } else {
    size_t size = 0;
    nvrtcGetCUBINSize(program, &size);
    std::vector<char> cubin(size);
    nvrtcGetCUBIN(program, cubin.data());
    expect(cuModuleLoadData(&made.module, cubin.data()), "cuModuleLoadData");
    expect(cuModuleGetFunction(&made.function, made.module, rung.entry.c_str()), "cuModuleGetFunction");
  }
  nvrtcDestroyProgram(&program);
  return made;
}

struct Launch {
  unsigned grid_x, threads, dynamic_bytes;
};

Launch launch_of(const Rung& rung, const Knobs& knobs, const Problem& p) {
  if (rung.entry == "attention_minimal") return {unsigned(p.seq_q), unsigned(knobs.at("THREADS")), unsigned(4 * p.seq_k)};
  const int m = knobs.at("BLOCK_M"), n = knobs.at("BLOCK_N"), warps = knobs.at("NUM_WARPS"), d = p.head_dim;
  const int bytes = 2 * m * d + 4 * n * d + 4 * m * n + 4 * m * d + 8 * warps;
  return {unsigned((p.seq_q + m - 1) / m), unsigned(32 * warps), knobs.at("SHARED") ? unsigned(bytes) : 0u};
}

void start(CUfunction function, const Launch& launch, Problem p, OnDevice at) {
  float scale = 1.0f / std::sqrt(float(p.head_dim));
  void* arguments[] = {&at.q, &at.k, &at.v, &at.o, &scale, &p.batch, &p.heads, &p.seq_q, &p.seq_k};
  expect(cuLaunchKernel(function, launch.grid_x, unsigned(p.heads), unsigned(p.batch), launch.threads, 1, 1,
                        launch.dynamic_bytes, nullptr, arguments, nullptr),
         "cuLaunchKernel");
}

// Relative Frobenius error; infinite when an element is not finite. The output is poisoned first.
double error_of(CUfunction function, const Launch& launch, const Problem& p, const Tensors& t, const OnDevice& at) {
  expect(cuMemsetD16(at.o, 0x7fff, t.q.size()), "cuMemsetD16");
  start(function, launch, p, at);
  expect(cuCtxSynchronize(), "the kernel");
  std::vector<half> out(t.q.size());
  expect(cuMemcpyDtoH(out.data(), at.o, out.size() * sizeof(half)), "cuMemcpyDtoH");
  double wrong = 0, size = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double got = double(float(out[i]));
    if (!std::isfinite(got)) return INFINITY;
    wrong += (got - t.reference[i]) * (got - t.reference[i]);
    size += t.reference[i] * t.reference[i];
  }
  return size > 0 ? std::sqrt(wrong / size) : std::sqrt(wrong);
}

double median_us(CUfunction function, const Launch& launch, const Problem& p, const OnDevice& at) {
  CUevent begin, end;
  expect(cuEventCreate(&begin, CU_EVENT_DEFAULT), "cuEventCreate");
  expect(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
  std::vector<float> samples;
  for (int sample = 0; sample < 11; ++sample) {
    expect(cuEventRecord(begin, nullptr), "cuEventRecord");
    for (int i = 0; i < 5; ++i) start(function, launch, p, at);
    expect(cuEventRecord(end, nullptr), "cuEventRecord");
    expect(cuEventSynchronize(end), "the kernel");
    float ms = 0;
    cuEventElapsedTime(&ms, begin, end);
    samples.push_back(ms * 1000 / 5);
  }
  std::sort(samples.begin(), samples.end());
  cuEventDestroy(begin);
  cuEventDestroy(end);
  return samples[samples.size() / 2];
}

std::vector<Knobs> tiled_configs(bool all) {
  std::vector<Knobs> configs;
  size_t count = 0;
  for (int m : {16, 32, 48, 64})
    for (int n : {64, 32})
      for (int warps : {1, 2, 4, 6, 8})
        for (int vec : {4, 1, 2, 8})
          for (int sync : {5, 2, 0})
            for (int swizzle : {0, 1})
              for (int reduce : {1, 0})
                for (int shared : {0, 1}) {
                  const bool plain = n == 64 && vec == 4 && sync == 5 && swizzle == 0 && reduce == 1;
                  if (!all && !plain && ++count % 61 != 0) continue;  // 61 shares no factor with a knob's count of values
                  configs.push_back({{"BLOCK_M", m}, {"BLOCK_N", n}, {"NUM_WARPS", warps}, {"VEC_WIDTH", vec},
                                     {"SYNC_POLICY", sync}, {"SWIZZLE_XOR", swizzle}, {"REDUCE_WARP", reduce},
                                     {"SHARED", shared}});
                }
  return configs;
}

struct Tally {
  int right = 0, wrong_as_expected = 0, raced = 0, refused = 0, bad = 0;
};

void check_config(const Rung& rung, const Knobs& knobs, const std::string& include, int arch,
                  const std::vector<Tensors>& tensors, const std::vector<OnDevice>& at, Tally& tally) {
  double worst = 0, us = 0;
  bool ran = false;
  std::map<std::pair<int, int>, Module> modules;  // one for each head_dim and mask
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Problem& p = kProblems[i];
    const auto [found, is_new] = modules.try_emplace({p.head_dim, p.causal});
    if (is_new) found->second = compile(rung, knobs, p, include, arch);
    const Module& made = found->second;
    if (made.too_much_shared) continue;
    const Launch launch = launch_of(rung, knobs, p);
    if (launch.dynamic_bytes > 48 * 1024)
      expect(cuFuncSetAttribute(made.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(launch.dynamic_bytes)),
             "the opt-in");
    worst = std::max(worst, error_of(made.function, launch, p, tensors[i], at[i]));
    if (i == 0) us = median_us(made.function, launch, p, at[i]);
    ran = true;
  }
  for (const auto& [key, made] : modules)
    if (made.module) cuModuleUnload(made.module);
  const bool tiled = rung.entry == "attention_tiled";
  const bool uneven = tiled && knobs.at("BLOCK_M") % knobs.at("NUM_WARPS") != 0;
  const bool raced = tiled && knobs.at("SYNC_POLICY") < 5;
  const bool right = worst < 5e-4;
  const char* verdict = "";
  if (!ran) verdict = "refused", ++tally.refused;
  else if (uneven) verdict = right ? "RIGHT, expected wrong" : "wrong, as expected", ++(right ? tally.bad : tally.wrong_as_expected);
  else if (raced) verdict = right ? "right (raced)" : "wrong (raced)", ++tally.raced;
  else verdict = right ? "right" : "WRONG", ++(right ? tally.right : tally.bad);
  std::string text;
  for (const auto& [name, value] : knobs) text += name + "=" + std::to_string(value) + " ";
  std::printf("%-22s %-8.3g %9.2f us  %s %s\n", verdict, worst, us, rung.entry.c_str(), text.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: kernels_check KERNELS_DIR CUDA_INCLUDE_DIR [all]\n");
    return 2;
  }
  const std::string kernels = argv[1], include = argv[2];
  const bool all = argc > 3 && std::string(argv[3]) == "all";
  expect(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  expect(cuDeviceGet(&device, 0), "cuDeviceGet");
  expect(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  int major = 0, minor = 0;
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);

  std::vector<Tensors> tensors;
  std::vector<OnDevice> at;
  for (const Problem& p : kProblems) {
    tensors.push_back(make_tensors(p));
    const Tensors& t = tensors.back();
    at.push_back({upload(t.q), upload(t.k), upload(t.v), upload(t.q)});
  }
  Tally tally;
  for (Rung rung : {Rung{"01_minimal.cu", "attention_minimal", ""}, Rung{"02_tiled.cu", "attention_tiled", ""}}) {
    std::ifstream in(kernels + "/" + rung.file);
    std::stringstream text;
    text << in.rdbuf();
    rung.source = text.str();
    if (rung.source.empty()) {
      std::fprintf(stderr, "%s/%s cannot be read\n", kernels.c_str(), rung.file.c_str());
      return 2;
    }
    std::vector<Knobs> configs = rung.entry == "attention_tiled"
                                     ? tiled_configs(all)
                                     : std::vector<Knobs>{{{"THREADS", 64}}, {{"THREADS", 128}}, {{"THREADS", 256}}};
    for (const Knobs& knobs : configs) check_config(rung, knobs, include, major * 10 + minor, tensors, at, tally);
  }
  std::printf("right %d, wrong as expected %d, raced %d, refused %d, not as expected %d\n", tally.right,
              tally.wrong_as_expected, tally.raced, tally.refused, tally.bad);
  return tally.bad == 0 ? 0 : 1;
}
