#include "worker/pipeline.h"

#include <algorithm>
#include <new>

#include "platform/memory.h"
#include "worker/pipeline_stages.h"

namespace attnscope::worker {
namespace {

// For runs whose outcome is all that is wanted.
class ProgressOnly final : public Quiet {
 public:
  explicit ProgressOnly(Sink& sink) : sink_(sink) {}
  void progress(protocol::Step step, int64_t done, int64_t total) override { sink_.progress(step, done, total); }

 private:
  Sink& sink_;
};

}  // namespace

std::string who(const Request& request) {
  const std::string config = short_text(request.experiment.config, request.kernel);
  return request.kernel.id + (config.empty() ? "" : " " + config);
}

Result<void> Pipeline::run() {
  auto done = run_stages();
  if (!done && done.error().stage == attnscope::Stage::limits) explain_refusal(done.error());
  return done;
}

Result<void> Pipeline::run_stages() {
  using Stage = Result<void> (Pipeline::*)();
  std::vector<Stage> stages{&Pipeline::open};
  // A library's routine is neither compiled nor watched, because its code belongs to the library.
  const bool source = request_.kernel.library.is_source();
  if (source) stages.insert(stages.end(), {&Pipeline::compile, &Pipeline::hold_limits});
  if (request_.stages.run)
    stages.insert(stages.end(),
                  {&Pipeline::load, &Pipeline::launch, &Pipeline::begin_next, &Pipeline::model, &Pipeline::check,
                   &Pipeline::clock, services_.purpose == Purpose::profile ? &Pipeline::profile : &Pipeline::measure,
                   &Pipeline::explain});
  if (request_.stages.watch && source) stages.push_back(&Pipeline::watch);
  for (const Stage stage : stages) {
    if (*request_.cancel) return fail(attnscope::Stage::cancelled, "cancelled", "");
    if (auto done = (this->*stage)(); !done) return done;
    if (stage == &Pipeline::hold_limits && is_known()) return {};
  }
  return {};
}

Result<device::LaunchOutcome> run_trial(Services& services, const Request& request, const MakeTrial& make, Sink& sink) {
  try {
    ProgressOnly quiet(sink);
    Recorder recorder(quiet, request.experiment);
    services.begun.drop();
    return Pipeline(services, request, recorder).run_trial(make);
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

Result<OverBuffers> run_over(Services& services, const Request& request,
                             std::shared_ptr<const check::Operands> operands, Sink& sink) {
  try {
    ProgressOnly quiet(sink);
    Recorder recorder(quiet, request.experiment);
    return Pipeline(services, request, recorder).run_over(std::move(operands));
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

Result<ClockedRun> run_clocked(Services& services, const Request& request, Sink& sink) {
  try {
    ProgressOnly quiet(sink);
    Recorder recorder(quiet, request.experiment);
    return Pipeline(services, request, recorder).run_clocked();
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

Result<void> run_experiment(Services& services, const Request& request, Sink& sink) {
  try {
    Recorder recorder(sink, request.experiment);
    services.begun.keep_only(request.experiment);
    services.clocked.drop(hash_of(request.experiment));
    if (!request.kernel.reference_kernel) services.reference.drop();
    auto done = Pipeline(services, request, recorder).run();
    // Even if the run has finished by then: the rest of its scan is cancelled.
    if (*request.cancel) services.begun.drop();
    return done;
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

}  // namespace attnscope::worker
