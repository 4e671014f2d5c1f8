#include <new>

#include "catalog/validate.h"
#include "worker/pipeline_stages.h"

// Starts the next run in the emulator while this one is modelled and checked.
namespace attnscope::worker {

// A watch needs the emulator's threads itself. If the next run needs another reference, it is not requested before this
// run is checked: that would cancel this run's.
Result<void> Pipeline::begin_next() {
  if (!device_->spec().emulated || !truth_ || request_.ahead.empty() || request_.stages.watch) return {};
  const Experiment& next = request_.ahead.front();
  if (next.device != experiment().device || next.problem != experiment().problem || !services_.ahead.is_done(next))
    return {};
  const auto accumulate = catalog::accumulate_of(request_.kernel, next.config);
  if (!accumulate || *accumulate != accumulate_) return {};
  Request request;
  request.experiment = next;
  request.kernel = request_.kernel;
  request.known_codes = request_.known_codes;
  if (seen_.variant) request.known_codes.push_back(seen_.variant->code_hash);
  request.compile_ms = request_.compile_ms;
  request.cancel = request_.cancel;
  Quiet quiet;
  Recorder recorder(quiet, next);
  try {
    Pipeline(services_, request, recorder).begin();
  } catch (const std::bad_alloc&) {
    services_.begun.drop();  // its own run reports that there is too little memory
  }
  return {};
}

void Pipeline::begin() {
  for (const auto stage : {&Pipeline::open, static_cast<Result<void> (Pipeline::*)()>(&Pipeline::compile),
                           &Pipeline::hold_limits, &Pipeline::load})
    if (!(this->*stage)()) return;
  if (is_known() || !truth_ || is_program() || BegunRun::is_large(experiment().problem)) return;
  if (auto launch = launch_request(loaded_))
    services_.begun.begin(experiment(), launches_.back().info.code_hash, device_, std::move(*launch));
}

}  // namespace attnscope::worker
