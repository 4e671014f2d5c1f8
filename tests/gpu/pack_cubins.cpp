// Writes what run_cubins needs on a GPU machine: cubins of the scalar rungs over a spread of configs and problems at
// sm_90, their inputs, and the list of cases in two forms: cases.txt for run_cubins, cases.json for the recording.
//
//   pack_cubins KERNELS_DIR OUT
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "catalog/catalog.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "check/inputs.h"
#include "compile/compiler.h"
#include "compile/cubin.h"
#include "core/hash.h"
#include "core/json.h"

namespace attnscope {
namespace {

struct Pick {
  const char* kernel;
  const char* problem;
  std::vector<const char*> settings;
  bool fast_math = true;
};

constexpr const char* kMission = "B=1,H=8,S=512,D=64";
constexpr const char* kRagged = "B=1,H=2,S=333,D=64";
constexpr const char* kCausal = "B=2,H=2,S=200,D=64,causal=bottom_right";
constexpr const char* kUneven = "B=1,H=2,seq_q=100,seq_k=333,D=64,causal=bottom_right";
constexpr const char* kMasked = "B=1,H=1,seq_q=150,seq_k=70,D=64,causal=bottom_right";
constexpr const char* kWide = "B=1,H=2,S=200,D=128";

std::vector<Pick> picks() {
  return {
      {"minimal", kMission, {}},
      {"minimal", kRagged, {"THREADS=64"}},
      {"minimal", kUneven, {"THREADS=256"}},
      {"minimal", kMasked, {}, false},
      {"minimal", kWide, {}},
      {"tiled", kMission, {}},
      {"tiled", kMission, {"NUM_WARPS=8"}},
      {"tiled", kMission, {"NUM_WARPS=8", "VEC_WIDTH=8"}},
      {"tiled", kMission, {"SWIZZLE_XOR=1"}},
      {"tiled", kMission, {"BLOCK_M=16"}},
      {"tiled", kMission, {"BLOCK_M=64", "SHARED=dynamic"}},
      {"tiled", kRagged, {}},
      {"tiled", kRagged, {"BLOCK_M=48"}},
      {"tiled", kRagged, {"VEC_WIDTH=1"}},
      {"tiled", kRagged, {"VEC_WIDTH=2", "NUM_WARPS=2"}},
      {"tiled", kRagged, {"REDUCE_WARP=serial"}},
      {"tiled", kRagged, {"BLOCK_N=32", "NUM_WARPS=1"}},
      {"tiled", kRagged, {"BLOCK_M=48", "NUM_WARPS=6"}},
      {"tiled", kRagged, {}, false},
      {"tiled", kCausal, {}},
      {"tiled", kCausal, {"NUM_WARPS=8", "SWIZZLE_XOR=1"}},
      {"tiled", kCausal, {"BLOCK_M=16", "BLOCK_N=32", "REDUCE_WARP=serial"}},
      {"tiled", kUneven, {}},
      {"tiled", kUneven, {"BLOCK_M=64", "SHARED=dynamic", "SWIZZLE_XOR=1"}},
      {"tiled", kMasked, {}},
      {"tiled", kMasked, {"NUM_WARPS=2"}, false},
      {"tiled", kWide, {"SHARED=dynamic"}},
      {"tiled", kWide, {"BLOCK_M=16", "BLOCK_N=32", "NUM_WARPS=8"}},
      {"tiled", kWide, {"BLOCK_M=64", "SHARED=dynamic", "NUM_WARPS=8", "SWIZZLE_XOR=1"}},
      {"tiled", kMission, {"NUM_WARPS=6"}},
      {"tiled", kRagged, {"SYNC_POLICY=2"}},
      {"tiled", kRagged, {"SYNC_POLICY=0", "NUM_WARPS=8"}},
      {"scalar", kMission, {}},
  };
}

// A failure here is a mistake in the list above: print it and stop.
template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n{}\n", result.error().message, result.error().hint);
  std::exit(1);
}

void write(const std::filesystem::path& path, const void* bytes, size_t size) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(bytes), std::streamsize(size));
}

std::string write_inputs(const std::filesystem::path& out, const Problem& problem) {
  const std::string name = xxh3_128(to_json(problem).dump()).substr(0, 12) + ".in";
  const auto inputs = need(check::make_inputs(problem));
  std::vector<std::byte> all = inputs.q;
  all.insert(all.end(), inputs.k.begin(), inputs.k.end());
  all.insert(all.end(), inputs.v.begin(), inputs.v.end());
  write(out / name, all.data(), all.size());
  return name;
}

void pack(const std::filesystem::path& kernels, const std::filesystem::path& out) {
  compile::Compiler compiler({});
  const catalog::Catalog catalog = catalog::load_catalog({kernels});
  std::ofstream list(out / "cases.txt");
  Json cases = Json::array();
  for (const Pick& pick : picks()) {
    const auto kernel = std::find_if(catalog.kernels.begin(), catalog.kernels.end(),
                                     [&](const Kernel& k) { return k.id == pick.kernel; });
    std::map<std::string, int64_t> overrides;
    for (const char* setting : pick.settings) overrides.insert(need(catalog::parse_setting(*kernel, setting)));
    CompileOptions options;
    options.fast_math = pick.fast_math;
    const Config config = need(catalog::complete_config(*kernel, overrides, options));
    const Problem problem = need(problem_from_text(pick.problem));
    const catalog::Launch launch = need(catalog::launch_of(*kernel, problem, config));
    const auto variant = need(
        compiler.compile({kernel->source, kernel->source_name, kernel->entry, catalog::macros(*kernel, problem, config),
                          problem.dtype, options, 90, kernel->headers}));
    const std::string name = fmt::format("case{:02}", cases.size());
    write(out / (name + ".cubin"), variant->cubin.data(), variant->cubin.size());
    list << fmt::format("{} {}.cubin {} {} {} {} {} {} {} {} {} {} {} {:.9g} {} {} {} {}\n", name, name,
                        variant->entry_symbol, launch.shape.grid[0], launch.shape.grid[1], launch.shape.grid[2],
                        launch.shape.block[0], launch.shape.block[1], launch.shape.block[2], launch.dynamic_shared,
                        write_inputs(out, problem), problem.q_elements() * 2, problem.kv_elements() * 2,
                        problem.effective_scale(), problem.batch, problem.heads, problem.seq_q, problem.seq_k);
    cases.push_back({{"name", name},
                     {"kernel", kernel->id},
                     {"problem", pick.problem},
                     {"settings", pick.settings},
                     {"fast_math", pick.fast_math},
                     {"arch", 90},
                     {"nvrtc", variant->nvrtc},
                     {"code_hash", variant->info.code_hash}});
  }
  std::ofstream(out / "cases.json") << cases.dump(1);
  fmt::print("{} cases\n", cases.size());
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "usage: pack_cubins KERNELS_DIR OUT\n"), 2;
  std::filesystem::create_directories(argv[2]);
  attnscope::pack(argv[1], argv[2]);
  return 0;
}
