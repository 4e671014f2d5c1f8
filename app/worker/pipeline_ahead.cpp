#include "worker/pipeline_stages.h"

// The next run begins in the emulator while this one is modelled and judged.
namespace attnscope::worker {
namespace {

// Says nothing to anyone.
class Quiet final : public Sink {
 public:
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(protocol::Step, int64_t, int64_t) override {}
};

}  // namespace

// A watch needs the emulator's threads itself.
Result<void> Pipeline::begin_next() {
  if (!device_->spec().emulated || !truth_ || request_.ahead.empty() || request_.stages.watch) return {};
  const Experiment& next = request_.ahead.front();
  if (next.device != experiment().device || !services_.ahead.is_done(next)) return {};
  Request request;
  request.experiment = next;
  request.kernel = request_.kernel;
  request.known_codes = request_.known_codes;
  if (seen_.variant) request.known_codes.push_back(seen_.variant->code_hash);
  request.cancel = request_.cancel;
  Quiet quiet;
  Recorder recorder(quiet, next);
  Pipeline(services_, request, recorder).begin();
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
