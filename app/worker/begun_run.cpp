#include "worker/begun_run.h"

#include <chrono>
#include <new>
#include <utility>

#include "platform/memory.h"

namespace attnscope::worker {

// Shared with the pool, whose thread may use it after the run was dropped.
struct BegunRun::Run {
  Experiment experiment;
  std::string code;
  std::shared_ptr<device::Device> device;
  device::LaunchRequest launch;
  std::atomic<bool> taken{false};  // by the pool, or by the run that needs the result
  std::atomic<bool> cancel{false};
  std::atomic<int64_t> ctas{0}, of_ctas{0};
  std::optional<Printed> printed;  // set when it has ended
  std::promise<Result<device::LaunchOutcome>> ends;
  std::future<Result<device::LaunchOutcome>> end = ends.get_future();

  Result<device::LaunchOutcome> execute() try {
    device::LaunchEvents events;
    events.cancel = &cancel;
    events.on_progress = [this](int64_t done, int64_t total) {
      of_ctas = total;
      ctas = done;
    };
    events.on_printed = [this](const Printed& text) { printed = text; };
    return device->run(launch, events);
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(launch.name));
  }
};

bool BegunRun::is_large(const Problem& problem) {
  constexpr double kMostBytes = 64 << 20;
  return double(problem.q_elements()) * double(bytes_of(problem.dtype)) > kMostBytes;
}

void BegunRun::begin(Experiment experiment, std::string code, std::shared_ptr<device::Device> device,
                     device::LaunchRequest launch) {
  drop();
  run_ = std::make_shared<Run>();
  run_->experiment = std::move(experiment);
  run_->code = std::move(code);
  run_->device = std::move(device);
  run_->launch = std::move(launch);
  pool_.leave([run = run_] {
    if (!run->taken.exchange(true)) run->ends.set_value(run->execute());
  });
}

void BegunRun::keep_only(const Experiment& experiment) {
  if (run_ && run_->experiment != experiment) drop();
}

void BegunRun::drop() {
  if (!run_) return;
  run_->taken = true;   // keeps it from starting
  run_->cancel = true;  // ends it soon if it has started
  run_.reset();
}

Result<std::optional<device::LaunchOutcome>> BegunRun::take(const Experiment& experiment, const std::string& code,
                                                            const device::LaunchEvents& events) {
  using Outcome = std::optional<device::LaunchOutcome>;
  keep_only(experiment);
  if (!run_ || run_->code != code || !run_->taken.exchange(true)) {
    drop();
    return Outcome();
  }
  const std::shared_ptr<Run> run = run_;
  if (events.on_start) events.on_start();
  int64_t told = 0;
  while (run->end.wait_for(std::chrono::milliseconds(2)) != std::future_status::ready) {
    if (events.cancel && *events.cancel) {
      drop();
      return fail(Stage::cancelled, "cancelled", "");
    }
    const int64_t done = run->ctas;
    if (events.on_progress && done != told) events.on_progress(told = done, run->of_ctas);
  }
  run_.reset();
  auto outcome = run->end.get();
  if (!outcome) return Outcome();
  if (run->printed && events.on_printed) events.on_printed(*run->printed);
  return Outcome(std::move(*outcome));
}

}  // namespace attnscope::worker
