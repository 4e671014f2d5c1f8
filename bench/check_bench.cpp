// The cost of checking (inputs, the fp64 reference on every row, the verdict) at the reports' shape, and at a size
// where rows are sampled. MeasureProcessCPUTime: the column CPU is the time of all threads, whatever else runs on the
// machine.
#include <benchmark/benchmark.h>

#include "check/error_map.h"
#include "check/verdict.h"

namespace {
using namespace attnscope;

// B1 H8 S512 D64, fp16: the reports' shape.
void inputs(benchmark::State& state) {
  const Problem problem;
  std::vector<std::byte> q(static_cast<size_t>(problem.q_elements()) * 2), k = q, v = q;
  for (auto _ : state) {
    check::fill_input(problem, check::Tensor::q, q);
    check::fill_input(problem, check::Tensor::k, k);
    check::fill_input(problem, check::Tensor::v, v);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 3 * problem.q_elements());
}
BENCHMARK(inputs)->Unit(benchmark::kMillisecond)->UseRealTime();

void reference(benchmark::State& state) {
  const Problem problem;
  const auto made = check::make_inputs(problem);
  check::ReferenceOptions options;
  options.threads = static_cast<int>(state.range(0));
  const auto accumulate = state.range(1) ? check::Accumulate::f16 : check::Accumulate::f32;
  for (auto _ : state) benchmark::DoNotOptimize(check::make_reference(problem, *made, accumulate, options));
}
BENCHMARK(reference)
    ->ArgNames({"threads", "fp16_accumulate"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

Problem large_problem() {
  Problem problem;
  problem.batch = 4, problem.heads = problem.kv_heads = 16;
  problem.seq_q = problem.seq_k = 4096, problem.head_dim = 128;
  return problem;
}

void large_inputs(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(check::make_inputs(large_problem()));
}
BENCHMARK(large_inputs)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void large_reference(benchmark::State& state) {
  const auto made = check::make_inputs(large_problem());
  for (auto _ : state) benchmark::DoNotOptimize(check::make_reference(large_problem(), *made, check::Accumulate::f32));
}
BENCHMARK(large_reference)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void large_verdict(benchmark::State& state) {
  const auto made = check::make_inputs(large_problem());
  const auto reference = *check::make_reference(large_problem(), *made, check::Accumulate::f32);
  for (auto _ : state) benchmark::DoNotOptimize(check::judge(made->q, *reference));
}
BENCHMARK(large_verdict)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void verdict(benchmark::State& state) {
  const Problem problem;
  const auto made = check::make_inputs(problem);
  const auto reference = *check::make_reference(problem, *made, check::Accumulate::f32);
  for (auto _ : state) benchmark::DoNotOptimize(check::judge(made->q, *reference));
}
BENCHMARK(verdict)->Unit(benchmark::kMillisecond)->UseRealTime();

void error_map(benchmark::State& state) {
  const Problem problem;
  const auto made = check::make_inputs(problem);
  const auto reference = *check::make_reference(problem, *made, check::Accumulate::f32);
  for (auto _ : state) benchmark::DoNotOptimize(check::make_tile(ViewRequest{}, problem, made->q, reference.get()));
}
BENCHMARK(error_map)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
