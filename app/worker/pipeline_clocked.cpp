#include "catalog/clock_twin.h"
#include "core/code_file.h"
#include "model/limits.h"
#include "model/occupancy.h"
#include "worker/constant_data.h"
#include "worker/pipeline_stages.h"
#include "worker/variant_request.h"

// Launches the kernel's instrumented twin, for a timeline by a GPU's clocks.
namespace attnscope::worker {

// Compiles the twin in place of the kernel; the rest of the launch stays the kernel's.
Result<void> Pipeline::make_twin() {
  PlannedLaunch& one = launches_.front();
  auto source = catalog::clock_twin(one.kernel.source, one.kernel.entry, SmTimeline::kMostCtas);
  if (!source) return fail(source.error());
  if (device_->spec().emulated) return fail(device_->clocks({}).error());  // before its twin is compiled for nothing
  one.kernel.source = std::move(*source);
  auto variant = compile(one.kernel);
  if (!variant)
    return fail(variant.error().stage, "its instrumented twin does not compile: " + variant.error().message,
                variant.error().hint);
  auto filled = with_constant_data({*variant}, workload_, experiment().problem, operands_.get());
  if (!filled) return fail(filled.error());
  if (auto settled = settle(one, filled->front()); !settled) return settled;
  if (auto held = hold_limits(); !held)
    return fail(held.error().stage, "its instrumented twin does not fit: " + held.error().message, held.error().hint);
  return {};
}

Result<ClockedRun> Pipeline::run_clocked() {
  if (!request_.kernel.library.is_source() || is_machine_code(request_.kernel.source))
    return fail(Stage::input, request_.kernel.id + " has no source that its clocks could be written into",
                "Its timeline is modelled, where its code is known.");
  if (is_program())
    return fail(Stage::input, request_.kernel.id + " launches several kernels, which are not clocked together",
                "Import one of them as a kernel of its own.");
  const auto end_if_cancelled = [this]() -> Result<void> {
    if (*request_.cancel) return fail(attnscope::Stage::cancelled, "cancelled", "");
    return {};
  };
  for (const auto stage :
       {&Pipeline::open, static_cast<Result<void> (Pipeline::*)()>(&Pipeline::compile), &Pipeline::hold_limits}) {
    if (auto going = end_if_cancelled(); !going) return fail(going.error());
    if (auto done = (this->*stage)(); !done) return fail(done.error());
  }
  ClockedRun made;
  made.twin.kernel_registers = launches_.front().info.registers;
  made.twin.kernel_ctas_sm = launches_.front().occupancy.ctas_per_sm;
  if (auto going = end_if_cancelled(); !going) return fail(going.error());
  if (auto twin = make_twin(); !twin) return fail(twin.error());
  made.twin.registers = launches_.front().info.registers;
  made.twin.ctas_sm = launches_.front().occupancy.ctas_per_sm;
  if (auto loaded = load(); !loaded) return fail(loaded.error());
  auto launch = launch_request(loaded_);
  if (!launch) return fail(launch.error());
  if (auto going = end_if_cancelled(); !going) return fail(going.error());
  sink_.progress(Step::measuring, 0, 0);
  auto spans = device_->clocks(*launch);
  if (!spans) return fail(spans.error());
  made.spans = std::move(*spans);
  return made;
}

}  // namespace attnscope::worker
