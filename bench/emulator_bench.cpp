// How fast the emulator executes recorded machine code (tests/data/emulator), with counting always on. Items are thread
// instructions per second of CPU time: the rate of one core, whatever else runs (the threads have the lowest priority).
// The column Time is wall time. The whole grid of the reports' shape, B1 H8 S512 D64; arguments: host threads, host
// instruction set.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "compile/compiler.h"
#include "compile/cubin.h"
#include "emulator/emulator.h"

namespace attnscope::emulator {
namespace {

constexpr uint32_t kHeads = 8, kSeq = 512, kHeadDim = 64;
// For tiled with BLOCK_M 32, BLOCK_N 32: Q, K, V, S, O and the maximum and sum of each warp.
constexpr uint32_t kSwizzleShared = 32 * 64 * 2 + 2 * 32 * 64 * 2 + 32 * 32 * 4 + 32 * 64 * 4 + 16;

std::string read_data(const std::string& name) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/emulator/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T>
T need(Result<T> result) {
  if (!result) {
    std::cerr << result.error().message << "\n";
    std::exit(1);
  }
  return std::move(*result);
}

std::shared_ptr<const compile::SassProgram> recorded(const std::string& name) {
  const std::string cubin = read_data(name + ".cubin");
  auto kernel = need(compile::read_cubin(std::as_bytes(std::span(cubin.data(), cubin.size())), ""));
  return std::make_shared<const compile::SassProgram>(
      need(compile::parse_nvdisasm(read_data(name + ".txt"), std::move(kernel))));
}

struct Setup {
  std::vector<uint16_t> tensors[4];
  GlobalMemory memory;
  Launch launch;

  Setup(const std::string& recording, std::array<uint32_t, 3> grid, uint32_t threads, uint32_t dynamic_shared)
      : Setup(recorded(recording), grid, threads, dynamic_shared) {}

  Setup(std::shared_ptr<const compile::SassProgram> sass, std::array<uint32_t, 3> grid, uint32_t threads,
        uint32_t dynamic_shared) {
    launch.parameters.resize(52);
    for (int i = 0; i < 4; ++i) {
      tensors[i].assign(kHeads * kSeq * kHeadDim, 0x2e66);                                                   // 0.1
      const uint64_t address = memory.add("tensor", std::as_writable_bytes(std::span(tensors[i])), i == 3);  // o
      std::memcpy(launch.parameters.data() + 8 * i, &address, 8);
    }
    const float scale = 0.125f;
    const uint32_t sizes[] = {1, kHeads, kSeq, kSeq};
    std::memcpy(launch.parameters.data() + 32, &scale, 4);
    std::memcpy(launch.parameters.data() + 36, sizes, sizeof sizes);
    launch.program = need(prepare(std::move(sass)));
    launch.grid = grid;
    launch.block = {threads, 1, 1};
    launch.dynamic_shared_bytes = dynamic_shared;
    launch.memory = &memory;
  }
};

// Runs the launch as often as the benchmark wants; items are thread instructions.
void count_instructions(benchmark::State& state, const Launch& launch, const RunOptions& options) {
  uint64_t instructions = 0;
  for (auto _ : state) instructions += need(run(launch, options)).counters.threads;
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

void whole_grid(benchmark::State& state, const std::string& recording, std::array<uint32_t, 3> grid, uint32_t threads,
                uint32_t dynamic_shared) {
  Setup setup(recording, grid, threads, dynamic_shared);
  RunOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  options.isa = static_cast<HostIsa>(state.range(1));
  if (*options.isa > best_host_isa()) return state.SkipWithError("this CPU lacks that instruction set");
  count_instructions(state, setup.launch, options);
}

// Compiled here by the installed NVRTC. `path` is relative to the source tree's root.
Result<std::shared_ptr<const compile::SassProgram>> compiled(const std::string& path, const std::string& entry,
                                                             int arch, std::map<std::string, int64_t> macros) {
  const std::filesystem::path file = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / path;
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  compile::CompileRequest request;
  request.source = text.str();
  request.file_name = file.filename();
  request.entry = entry;
  request.macros = std::move(macros);
  request.arch = arch;
  compile::Compiler compiler(compile::CompilerOptions{});
  auto variant = compiler.compile(request);
  if (!variant) return fail(variant.error());
  return compile::disassemble((*variant)->cubin, (*variant)->entry_symbol, {});
}

// The Tensor Core rung in its first config. Normal inputs: the handlers take a slower path for exponents far apart.
struct TensorSetup {
  static constexpr uint32_t kRows = 32, kWarps = 4,
                            kSharedBytes = 36864;  // for BLOCK_M 32, BLOCK_N 32, 4 warps, 2 stages, split by 2
  std::vector<uint16_t> tensors[4];
  GlobalMemory memory;
  Launch launch;

  explicit TensorSetup(std::shared_ptr<const compile::SassProgram> sass) {
    launch.parameters.resize(56);
    uint64_t state = 1;
    for (int i = 0; i < 4; ++i) {
      for (uint32_t k = 0; k < kHeads * kSeq * kHeadDim; ++k) {
        float sum = -6;  // the sum of twelve uniform numbers: nearly normal
        for (int n = 0; n < 12; ++n)
          sum += static_cast<float>((state = state * 6364136223846793005u + 1442695040888963407u) >> 40) * 0x1p-24f;
        const _Float16 half = static_cast<_Float16>(sum);
        tensors[i].emplace_back();
        std::memcpy(&tensors[i].back(), &half, 2);
      }
      const uint64_t address = memory.add("tensor", std::as_writable_bytes(std::span(tensors[i])), i == 3);  // o
      std::memcpy(launch.parameters.data() + 8 * i, &address, 8);
    }
    const float scale = 0.125f;
    const uint32_t sizes[] = {1, kHeads, kHeads, kSeq, kSeq};
    std::memcpy(launch.parameters.data() + 32, &scale, 4);
    std::memcpy(launch.parameters.data() + 36, sizes, sizeof sizes);
    launch.program = need(prepare(std::move(sass)));
    launch.grid = {kSeq / kRows, kHeads, 1};
    launch.block = {32 * kWarps, 1, 1};
    launch.dynamic_shared_bytes = kSharedBytes;
    launch.memory = &memory;
  }
};

// Goal: 150 ms of wall time on two cores. Arguments: architecture, host threads, host instruction set.
void tensor_grid(benchmark::State& state) {
  const auto sass = compiled("kernels/05_mma.cu", "attention_mma", static_cast<int>(state.range(0)),
                             {{"HEAD_DIM", kHeadDim}, {"CAUSAL", 0}});
  if (!sass) return state.SkipWithError(sass.error().message.c_str());
  TensorSetup setup(*sass);
  RunOptions options;
  options.threads = static_cast<unsigned>(state.range(1));
  options.isa = static_cast<HostIsa>(state.range(2));
  count_instructions(state, setup.launch, options);
}
void architectures(benchmark::internal::Benchmark* benchmark) {
  const int best = static_cast<int>(best_host_isa());
  for (const int arch : {80, 89, 90}) benchmark->Args({arch, 1, best})->Args({arch, 2, best});
  for (int isa = 0; isa < best; ++isa) benchmark->Args({89, 1, isa});
}

// `tiled` in the config that the program starts with, whose warps are full: BLOCK_M 32, BLOCK_N 64, 4 warps. Arguments:
// host threads, host instruction set.
void tiled_default(benchmark::State& state) {
  const auto sass = compiled("kernels/02_tiled.cu", "attention_tiled", 89, {{"HEAD_DIM", kHeadDim}, {"CAUSAL", 0}});
  if (!sass) return state.SkipWithError(sass.error().message.c_str());
  Setup setup(*sass, {kSeq / 32, kHeads, 1}, 128, 0);
  RunOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  options.isa = static_cast<HostIsa>(state.range(1));
  count_instructions(state, setup.launch, options);
}

// The algorithm that other emulators also run (peers/emulator_peers.py), on one thread. Arguments: query rows, keys.
void tiled_plain(benchmark::State& state) {
  const auto sass = compiled("bench/peers/tiled_plain.cu", "tiled_plain", 89, {});
  if (!sass) return state.SkipWithError(sass.error().message.c_str());
  const auto rows = static_cast<uint32_t>(state.range(0)), keys = static_cast<uint32_t>(state.range(1));
  std::vector<uint16_t> tensors[4];
  GlobalMemory memory;
  Launch launch;
  launch.parameters.resize(40);
  for (int i = 0; i < 4; ++i) {
    tensors[i].assign((i == 1 || i == 2 ? keys : rows) * kHeadDim, 0x2e66);                                // 0.1
    const uint64_t address = memory.add("tensor", std::as_writable_bytes(std::span(tensors[i])), i == 3);  // o
    std::memcpy(launch.parameters.data() + 8 * i, &address, 8);
  }
  const float scale = 0.125f;
  std::memcpy(launch.parameters.data() + 32, &scale, 4);
  std::memcpy(launch.parameters.data() + 36, &keys, 4);
  launch.program = need(prepare(*sass));
  launch.grid = {rows / 32, 1, 1};
  launch.block = {128, 1, 1};
  launch.memory = &memory;
  RunOptions options;
  options.threads = 1;
  count_instructions(state, launch, options);
}

// Runs as many CTAs as the program watches, with and without the watch: the cost of the search for races. One host
// thread.
void run_watched(benchmark::State& state, const Launch& launch) {
  RunOptions options;
  options.threads = 1;
  options.ctas = {0, 1, 2, 3, 4, 5, 6, 7};
  options.watch = state.range(0) != 0;
  count_instructions(state, launch, options);
}

void watched(benchmark::State& state, const std::string& recording, std::array<uint32_t, 3> grid, uint32_t threads,
             uint32_t dynamic_shared) {
  Setup setup(recording, grid, threads, dynamic_shared);
  run_watched(state, setup.launch);
}

// The config of tiled_default.
void watched_default(benchmark::State& state) {
  const auto sass = compiled("kernels/02_tiled.cu", "attention_tiled", 89, {{"HEAD_DIM", kHeadDim}, {"CAUSAL", 0}});
  if (!sass) return state.SkipWithError(sass.error().message.c_str());
  Setup setup(*sass, {kSeq / 32, kHeads, 1}, 128, 0);
  run_watched(state, setup.launch);
}

// The config of tensor_grid, which fills shared memory by asynchronous copies.
void watched_tensor(benchmark::State& state) {
  const auto sass = compiled("kernels/05_mma.cu", "attention_mma", 89, {{"HEAD_DIM", kHeadDim}, {"CAUSAL", 0}});
  if (!sass) return state.SkipWithError(sass.error().message.c_str());
  TensorSetup setup(*sass);
  run_watched(state, setup.launch);
}

// Time from the call to the first progress report; streaming waits for it.
void first_counters(benchmark::State& state) {
  Setup setup("tiled_vector_sm89", {kSeq / 16, kHeads, 1}, 128, 0);
  for (auto _ : state) {
    std::atomic<bool> cancel{false};
    RunOptions options;
    options.cancel = &cancel;
    options.progress = [&](const Progress&) { cancel = true; };
    benchmark::DoNotOptimize(run(setup.launch, options));
  }
}

void decode_program(benchmark::State& state) {
  const auto sass = recorded("tiled_vector_sm89");
  for (auto _ : state) {
    auto fresh = std::make_shared<compile::SassProgram>(*sass);
    fresh->code_hash.clear();  // not from the cache
    benchmark::DoNotOptimize(need(prepare(fresh)));
  }
}

void every_isa(benchmark::internal::Benchmark* benchmark) {
  for (int isa = 0; isa <= static_cast<int>(best_host_isa()); ++isa) benchmark->Args({1, isa});
  benchmark->Args({2, static_cast<int>(best_host_isa())});
}

BENCHMARK_CAPTURE(whole_grid, tiled_vector_sm80, "tiled_vector_sm80", {kSeq / 16, kHeads, 1}, 128, 0)
    ->Apply(every_isa)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(whole_grid, tiled_vector_sm89, "tiled_vector_sm89", {kSeq / 16, kHeads, 1}, 128, 0)
    ->Apply(every_isa)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(whole_grid, tiled_vector_sm90, "tiled_vector_sm90", {kSeq / 16, kHeads, 1}, 128, 0)
    ->Apply(every_isa)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(whole_grid, tiled_swizzle_sm89, "tiled_swizzle_sm89", {kSeq / 32, kHeads, 1}, 64, kSwizzleShared)
    ->Apply(every_isa)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(whole_grid, minimal_sm89, "minimal_sm89", {kSeq, kHeads, 1}, 64, 4 * kSeq)
    ->Apply(every_isa)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK(tensor_grid)
    ->ArgNames({"arch", "threads", "isa"})
    ->Apply(architectures)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK(tiled_default)->Apply(every_isa)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(tiled_plain)
    ->ArgNames({"rows", "keys"})
    ->Args({128, 128})
    ->Args({4096, 512})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(watched, tiled_vector, "tiled_vector_sm89", {kSeq / 16, kHeads, 1}, 128, 0)
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(watched, tiled_swizzle, "tiled_swizzle_sm89", {kSeq / 32, kHeads, 1}, 64, kSwizzleShared)
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(watched, minimal, "minimal_sm89", {kSeq, kHeads, 1}, 64, 4 * kSeq)
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK(watched_default)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(watched_tensor)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(first_counters)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(decode_program)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace attnscope::emulator

BENCHMARK_MAIN();
