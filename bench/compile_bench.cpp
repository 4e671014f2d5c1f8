// From a source to decoded machine code: cached, and from a cold start. The program is recorded in tests/data/compile;
// the tiled rung stands for what a person compiles.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "compile/code_hash.h"
#include "compile/compiler.h"
#include "compile/cubin.h"
#include "compile/sass.h"
#include "compile/sass_parser.h"

namespace {
using namespace attnscope;
using namespace attnscope::compile;

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(ATTNSCOPE_SOURCE_DIR) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

CompileRequest tiled(int arch) {
  CompileRequest request;
  request.source = text_of("kernels/02_tiled.cu");
  request.file_name = "02_tiled.cu";
  request.entry = "attention_tiled";
  request.macros = {{"HEAD_DIM", 64}, {"CAUSAL", 0}, {"BLOCK_M", 32}, {"NUM_WARPS", 4}};
  request.arch = arch;
  return request;
}

// CuTe's headers include several hundred files.
CompileRequest cute() {
  CompileRequest request;
  request.source = text_of("kernels/06_cute.cu");
  request.file_name = "06_cute.cu";
  request.entry = "attention_cute";
  request.headers = {"cutlass"};
  request.macros = {{"HEAD_DIM", 64}, {"CAUSAL", 0},     {"BLOCK_M", 64}, {"BLOCK_N", 64},
                    {"NUM_WARPS", 4}, {"SPLIT_KEYS", 1}, {"STAGES", 2},   {"Q_REGS", 1}};
  request.dtype = DType::f16;
  request.arch = 89;
  return request;
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("attnscope-bench-" + std::to_string(getpid()));
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void read_a_cubin(benchmark::State& state) {
  const std::string cubin = text_of("tests/data/compile/features_sm89_nvrtc13.0.cubin");
  for (auto _ : state) benchmark::DoNotOptimize(read_cubin(bytes_of(cubin), "features"));
}
BENCHMARK(read_a_cubin)->Unit(benchmark::kMicrosecond);

void hash_its_code(benchmark::State& state) {
  const std::string cubin = text_of("tests/data/compile/features_sm89_nvrtc13.0.cubin");
  const auto kernel = read_cubin(bytes_of(cubin), "features");
  for (auto _ : state) benchmark::DoNotOptimize(code_hash(*kernel));
}
BENCHMARK(hash_its_code)->Unit(benchmark::kMicrosecond);

void parse_its_disassembly(benchmark::State& state) {
  const std::string cubin = text_of("tests/data/compile/features_sm89_nvrtc13.0.cubin");
  const auto kernel = read_cubin(bytes_of(cubin), "features");
  const std::string section = kernel_section(text_of("tests/data/compile/features_sm89_nvrtc13.0.txt"), "features");
  for (auto _ : state) benchmark::DoNotOptimize(parse_nvdisasm(section, *kernel));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kernel->text.size() / 16));
}
BENCHMARK(parse_its_disassembly)->Unit(benchmark::kMicrosecond);

// Cold: NVRTC compiles the tiled rung for the given architecture.
void compile_cold(benchmark::State& state) {
  Compiler compiler(CompilerOptions{});
  for (auto _ : state)
    if (auto variant = compiler.compile(tiled(static_cast<int>(state.range(0)))); !variant)
      return state.SkipWithError(variant.error().message.c_str());
}
BENCHMARK(compile_cold)->Arg(80)->Arg(89)->Arg(90)->Unit(benchmark::kMillisecond)->UseRealTime();

void compile_cached(benchmark::State& state, const CompileRequest& request) {
  const Folder folder;
  Compiler compiler(CompilerOptions{folder.path, 512 << 20});
  if (auto variant = compiler.compile(request); !variant) return state.SkipWithError(variant.error().message.c_str());
  for (auto _ : state)
    if (auto variant = compiler.compile(request); !variant) return state.SkipWithError(variant.error().message.c_str());
}
BENCHMARK_CAPTURE(compile_cached, tiled, tiled(89))->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(compile_cached, cute, cute())->Unit(benchmark::kMillisecond)->UseRealTime();

void disassemble_tiled(benchmark::State& state, bool cached) {
  const Folder folder;
  Compiler compiler(CompilerOptions{});
  auto variant = compiler.compile(tiled(static_cast<int>(state.range(0))));
  if (!variant) return state.SkipWithError(variant.error().message.c_str());
  DisassemblerOptions options;
  if (cached) {
    options.cache_dir = folder.path;
    (void)disassemble((*variant)->cubin, (*variant)->entry_symbol, options);
  }
  for (auto _ : state)
    if (auto program = disassemble((*variant)->cubin, (*variant)->entry_symbol, options); !program)
      return state.SkipWithError(program.error().message.c_str());
}
BENCHMARK_CAPTURE(disassemble_tiled, cold, false)
    ->Arg(80)
    ->Arg(89)
    ->Arg(90)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(disassemble_tiled, cached, true)->Arg(89)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
