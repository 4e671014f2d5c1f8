#include "worker/ahead.h"

#include <chrono>
#include <tuple>

#include "catalog/validate.h"
#include "worker/variant_request.h"

namespace attnscope::worker {
namespace {

bool is_ready(const std::shared_future<void>& ended) {
  return ended.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Validates the experiment first, as if it had arrived over a pipe.
void compile(const Ahead::Work& work) {
  const DeviceSpec& spec = work.device->spec();
  const Config& config = work.experiment.config;
  const auto complete = catalog::complete_config(work.kernel, config.knobs, config.options);
  if (!complete || *complete != config) return;
  if (!catalog::check_restrictions(work.kernel, work.experiment.problem, config, spec.arch)) return;
  for (const Kernel& one : work.kernel.launches()) {
    const auto variant = work.compiler->compile(variant_request(one, work.experiment.problem, config, spec.arch),
                                                nvcc_ms(work.compile_ms));
    if (variant && spec.emulated) std::ignore = work.device->load(**variant);  // decoded code has its own cache
  }
}

}  // namespace

void Ahead::begin(Work work) {
  if (!keeps_ || !work.kernel.library.is_source()) return;
  if (jobs_.size() >= kMostKept) std::erase_if(jobs_, [](const auto& one) { return is_ready(one.second->ended); });
  const auto [at, is_new] = jobs_.try_emplace(hash_of(work.experiment));
  if (!is_new) return;
  at->second = std::make_shared<Job>();
  pool_.leave([job = at->second, work = std::move(work)] {
    if (!job->taken.exchange(true)) compile(work);
    job->done.set_value();
  });
}

bool Ahead::wait_for(const Experiment& experiment, const std::atomic<bool>& cancel) {
  const auto found = jobs_.find(hash_of(experiment));
  if (found == jobs_.end() || !found->second->taken.exchange(true)) return true;
  while (found->second->ended.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
    if (cancel) return false;
  return true;
}

bool Ahead::is_done(const Experiment& experiment) const {
  const auto found = jobs_.find(hash_of(experiment));
  return found != jobs_.end() && is_ready(found->second->ended);
}

}  // namespace attnscope::worker
