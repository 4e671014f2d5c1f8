// What the Sweep panel does with 100,000 trials: making its table, and answering a brush.
#include <benchmark/benchmark.h>

#include "sweep/trials.h"

namespace attnscope::sweep {
namespace {

constexpr int64_t kTrials = 100'000;

struct Made {
  Kernel kernel;
  search::Space space;
  Scan scan;
};

// Correct trials of five knobs with ten values each; every trial has its own time.
Made make() {
  Made made;
  const std::vector<int64_t> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const char* name : {"A", "B", "C", "D", "E"}) {
    Knob knob{name, {}, 0, ""};
    for (const int64_t value : values) knob.values.push_back({value, ""});
    made.kernel.knobs.push_back(knob);
    made.space.axes.push_back({name, values});
  }
  for (int64_t at = 0; at < kTrials; ++at) {
    ScanPoint point;
    int64_t left = at;
    for (const Knob& knob : made.kernel.knobs) {
      point.config.knobs[knob.name] = left % 10;
      left /= 10;
    }
    point.value.label = std::to_string(at);
    Observation run;
    run.verdict.emplace().state = VerdictState::correct;
    run.variant.emplace().registers = 32 + at % 200;
    Timing& timing = run.timing.emplace();
    timing.kind = FigureKind::measured;
    timing.p50 = 10 + double(at * 7919 % kTrials) / 1000;
    timing.interval_low = timing.p50 * 0.99;
    timing.interval_high = timing.p50 * 1.01;
    point.observation = std::make_shared<const Observation>(std::move(run));
    made.scan.points.push_back(std::move(point));
  }
  return made;
}

void table_of_trials(benchmark::State& state) {
  const Made made = make();
  for (auto _ : state) benchmark::DoNotOptimize(trials_of(made.scan, made.space, made.kernel));
}
BENCHMARK(table_of_trials)->Unit(benchmark::kMillisecond);

void brush(benchmark::State& state) {
  const Made made = make();
  const Trials trials = trials_of(made.scan, made.space, made.kernel);
  const std::vector<Brush> brushes{{0, 2, 7}, {3, 0, 4}, {5, 20, 60}};
  for (auto _ : state) benchmark::DoNotOptimize(brushed(trials, brushes));
}
BENCHMARK(brush)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope::sweep

BENCHMARK_MAIN();
