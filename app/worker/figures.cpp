#include "worker/figures.h"

#include <algorithm>

#include "core/source_lines.h"
#include "device/model_input.h"
#include "device/terms.h"
#include "explain/explain.h"
#include "model/latency.h"
#include "worker/watch_run.h"

namespace attnscope::worker {
namespace {

bool is_program(const PlannedRun& run) { return !run.kernel.steps.empty(); }

Simulated simulated(const PlannedRun& run, const PlannedLaunch& one, const Counters& counters,
                    const device::EmulatedDetail& emulated) {
  Simulated made;
  const model::LaunchShape& shape = one.launch.shape;
  model::KernelSchedule schedule = device::schedule_of(*emulated.program, emulated.result, run.problem, shape.grid);
  if (run.workload) {
    const NamedBytes named = bytes_named(*run.workload, is_program(run) ? one.arguments : run.workload->arguments);
    const double bytes = is_program(run) ? named.all : double(run.workload->bytes());
    schedule.buffers = named.by_use;
    schedule.global_bytes_per_cta = bytes / double(std::max<int64_t>(1, shape.ctas()));
  }
  auto modelled = model::latency({run.spec, run.problem, one.info, shape, one.occupancy, counters, &schedule});
  made.timing = std::move(modelled.timing);
  made.stalls = std::move(modelled.stalls);
  made.schedule = std::make_shared<const model::KernelSchedule>(std::move(schedule));
  return made;
}

}  // namespace

std::vector<SimulatedLaunch> simulate(const PlannedRun& run, const device::LaunchOutcome& emulated) {
  std::vector<SimulatedLaunch> all;
  const auto add = [&](const Counters& counters, const device::EmulatedDetail& did) {
    all.push_back({&counters, &did, simulated(run, run.launches[all.size()], counters, did)});
  };
  if (!is_program(run)) add(*emulated.counters, *emulated.emulated);
  for (const device::LaunchOutcome::Step& step : emulated.steps)
    if (step.counters) add(*step.counters, *step.emulated);
  return all;
}

Timing with_terms(const PlannedRun& run, const SimulatedLaunch& made) {
  Timing timing = made.simulated.timing;
  if (timing.p50 <= 0) return timing;
  const auto& stalls = made.simulated.stalls;
  timing.terms = stalls.empty() ? device::no_terms()
                                : device::terms_of(stalls, *made.emulated->program,
                                                   SourcePieces(run.kernel.source, run.kernel.phases),
                                                   SourceLines(run.kernel.source_name, run.kernel.source));
  return timing;
}

void add_figures(const PlannedRun& run, const std::vector<SimulatedLaunch>& made, std::vector<LaunchFigures>& steps) {
  for (size_t i = 0; i < made.size(); ++i) {
    LaunchFigures& step = steps[run.launches[i].kernel.step.value_or(0)];
    step.timing = with_terms(run, made[i]);
    step.counters = *made[i].counters;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const ProgramStep& step = run.kernel.steps[i];
    if (step.kind == ProgramStep::Kind::launch) continue;
    const double bytes = double(run.workload->operands[step.to].bytes());
    steps[i].timing = model::transfer(run.spec, step.kind == ProgramStep::Kind::copy ? 2 * bytes : bytes);
  }
}

std::vector<Finding> findings_of(const PlannedRun& run, const std::vector<SimulatedLaunch>& made,
                                 const Observation& seen) {
  std::vector<std::vector<Finding>> all;
  for (size_t i = 0; i < made.size(); ++i) {
    const PlannedLaunch& one = run.launches[i];
    Observation own = seen;
    if (is_program(run)) {
      own.variant = one.info;
      own.occupancy = one.occupancy;
    }
    explain::Facts facts = facts_of(one.kernel, run.spec, one.launch.shape, std::move(own), *made[i].counters,
                                    *made[i].emulated, made[i].simulated);
    if (!uses_variables(*made[i].emulated->program->sass))
      facts.distinct_bytes = is_program(run) ? bytes_named(*run.workload, one.arguments).all
                                             : distinct_bytes(run.problem, run.workload, one.arguments);
    all.push_back(explain::findings_of(facts));
  }
  return merged(run.launches, std::move(all));
}

KeptCode::Modelled modelled_launches(const PlannedRun& run, const std::vector<SimulatedLaunch>& made) {
  KeptCode::Modelled all;
  for (size_t i = 0; i < made.size(); ++i) {
    const PlannedLaunch& one = run.launches[i];
    all.push_back(
        {run.problem, one.info, one.launch.shape, one.occupancy, *made[i].counters, made[i].simulated.schedule});
  }
  return all;
}

std::vector<device::CodeRun> code_runs(const PlannedRun& run, const std::vector<SimulatedLaunch>& made) {
  std::vector<device::CodeRun> runs;
  for (size_t i = 0; i < made.size(); ++i) {
    const emulator::RunResult& result = made[i].emulated->result;
    runs.push_back({result.instructions, made[i].simulated.stalls, made[i].counters->emulated_ctas,
                    made[i].counters->total_ctas, result.shared_steps,
                    shared_names(*run.launches[i].variant, run.launches[i].launch.dynamic_parts)});
  }
  return runs;
}

}  // namespace attnscope::worker
