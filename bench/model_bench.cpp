// What a modelled time costs on one core, once the kernel has run in the emulator: each rung's default config on an L4,
// at the reports' shape and at B4 H16 S4096 D128, with and without a mask. The goals are 60 ms and 300 ms. The column
// CPU is the figure, whatever else runs on the machine.
#include <benchmark/benchmark.h>

#include "../tests/kernels/bench_of_one.h"

namespace {
using namespace attnscope;

struct Rung {
  const char* kernel;
  std::vector<std::string> settings;
};

void latency(benchmark::State& state, const Rung& rung, const char* problem) {
  const auto ran = kernel_tests::run({rung.kernel, problem, rung.settings});
  if (!ran) return state.SkipWithError(ran.error().message.c_str());
  const kernel_tests::Counted counted = kernel_tests::counted(*ran, rung.settings);
  const DeviceSpec l4 = kernel_tests::device_spec("emulated:l4");
  for (auto _ : state) benchmark::DoNotOptimize(kernel_tests::modelled(counted, l4));
}

void at(const char* problem, const std::vector<Rung>& rungs) {
  for (const Rung& rung : rungs)
    benchmark::RegisterBenchmark((std::string(rung.kernel) + "/" + problem).c_str(), latency, rung, problem)
        ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Rung> all{{"minimal", {}}, {"tiled", {}}, {"scalar", {}}, {"wmma", {}}, {"mma", {}}, {"cute", {}}};
  // With D = 128 the tiles of `tiled` are too large for static shared memory, and `cute` takes only D = 64.
  const std::vector<Rung> wide{
      {"minimal", {}}, {"tiled", {"SHARED=dynamic"}}, {"scalar", {}}, {"wmma", {}}, {"mma", {}}};
  at("B=1,H=8,S=512,D=64", all);
  at("B=4,H=16,S=4096,D=128", wide);
  at("B=4,H=16,S=4096,D=128,causal=top_left", wide);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
