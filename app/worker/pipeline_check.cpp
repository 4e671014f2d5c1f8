#include "worker/pipeline_stages.h"

#include <chrono>

#include "check/error_map.h"
#include "check/known_reference.h"
#include "check/verdict.h"
#include "platform/clock.h"
#include "worker/reference_run.h"

// Compares a run's output with its reference, and streams parts and tiles meanwhile.
namespace attnscope::worker {
namespace {

constexpr double kPartInterval = 40;  // ms between streamed counters, and between streamed tiles

}  // namespace

void Pipeline::stream_counters(const Counters& counters) {
  const double now = platform::steady_ms();
  if (now - last_counters_ < kPartInterval) return;
  last_counters_ = now;
  sink_.part({counters}, false);
}

std::shared_ptr<const check::Reference> Pipeline::reference_if_ready() const {
  if (truth_->reference.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return nullptr;
  const ReferenceResult& made = truth_->reference.get();
  return made ? *made : nullptr;
}

void Pipeline::stream_tile(const std::function<std::vector<std::byte>()>& copy) {
  if (!request_.first_view || !truth_) return;
  const double now = platform::steady_ms();
  if (now - last_tile_ < kPartInterval) return;
  const auto reference = reference_if_ready();
  if (!reference && request_.first_view->map != MapKind::output) return;
  last_tile_ = now;
  send_tile(copy(), reference.get());
}

void Pipeline::send_tile(std::span<const std::byte> output, const check::Reference* reference) {
  // A view that does not fit the problem only gets no tile; the run goes on.
  if (auto tile = check::make_tile(*request_.first_view, experiment().problem, output, reference))
    sink_.tile(std::move(*tile));
}

// The requested reference, made by the device if it has a kernel for it, otherwise by the CPU.
ReferenceResult Pipeline::reference() {
  auto found = wait(truth_->reference);
  if (!found || *found) return found;
  auto made = device_->reference(experiment().problem, accumulate_);
  if (device_->lost()) return fail(made ? Failure{Stage::device, device_->spec().id + " is lost", ""} : made.error());
  if (made && *made) {
    services_.truth.keep(*made);
    return made;
  }
  truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::all);
  return wait(truth_->reference);
}

Result<void> Pipeline::check() {
  sink_.progress(Step::checking, 0, 0);
  auto verdict = request_.kernel.reference_kernel
                     ? judge_by_kernel(services_, request_, *workload_, *operands_, outcome_, sink_)
                 : workload_ ? check::judge(*workload_, *operands_, outcome_.outputs, outcome_.partial)
                             : judge_attention();
  if (!verdict) return fail(verdict.error());
  sink_.part({*verdict});
  if (request_.first_view && truth_) send_tile(outcome_.output->data(), reference_.get());
  return {};
}

// Also keeps the run for map requests.
Result<Verdict> Pipeline::judge_attention() {
  auto reference = this->reference();
  if (!reference && (reference.error().stage == Stage::cancelled || device_->lost())) return fail(reference.error());
  Verdict verdict = reference ? Verdict{} : check::unchecked(reference.error().message);
  if (reference) {
    auto compared = device_->compare(outcome_, *reference);
    if (!compared) return fail(compared.error());
    const Result<Verdict> judged =
        *compared ? check::conclude(**compared, **reference)
                  : check::judge(outcome_.output->data(), **reference, {.partial = outcome_.partial});
    if (!judged) return fail(judged.error());
    verdict = *judged;
  }
  reference_ = reference ? *reference : nullptr;
  if (request_.keeps_output)
    services_.kept.keep({hash_of(experiment()), experiment().problem, outcome_.output, reference_});
  return verdict;
}

}  // namespace attnscope::worker
