#include "session/resolve.h"

#include "catalog/validate.h"
#include "core/near.h"

namespace attnscope::session {
namespace {

void take_default_device(Resolution& r, const DeviceTable& devices, const std::string& wish) {
  const auto choice = devices.choose();
  if (!choice) {
    r.wait = true;
    r.experiment.device = devices.all()->empty() ? "" : devices.all()->front().id;
    return;
  }
  r.experiment.device = choice->id;
  devices.find(choice->id, r.place);
  r.device_reason = wish.empty() ? choice->reason : wish + " is not here. " + choice->reason;
}

void find_device(Resolution& r, const DeviceTable& devices, const std::string& asked, bool is_wish) {
  if (asked.empty()) return take_default_device(r, devices, "");
  switch (devices.find(asked, r.place)) {
    case DeviceTable::Answer::here:
      r.experiment.device = r.place.id;
      return;
    case DeviceTable::Answer::not_yet:
      r.wait = true;
      r.wait_for = devices.far_worker(asked);
      return;
    case DeviceTable::Answer::nowhere:
      break;
  }
  if (is_wish && devices.choose()) return take_default_device(r, devices, asked);
  r.failure = Failure{Stage::device, devices.missing(asked), "Devices here: " + devices.listed() + "."};
}

void find_config(Resolution& r, const Draft& draft, const KernelShelf& shelf) {
  r.kernel = shelf.find(draft.kernel);
  if (!r.kernel) {
    std::vector<std::string> known;
    for (const auto& kernel : shelf.all()) known.push_back(kernel->id);
    r.failure = Failure{Stage::input, "there is no kernel \"" + draft.kernel + "\"",
                        names_to_choose(draft.kernel, known) + " Give others with --kernels DIR."};
    return;
  }
  r.experiment.kernel_hash = r.kernel->content_hash;
  auto config = catalog::complete_config(*r.kernel, draft.config.knobs, draft.config.options);
  if (!config) {
    r.failure = config.error();
    return;
  }
  r.experiment.config = *config;
}

}  // namespace

void KernelShelf::set(const std::vector<Kernel>& kernels) {
  newest_.clear();
  for (const Kernel& kernel : kernels) {
    auto& kept = by_hash_[kernel.content_hash];
    if (!kept) kept = std::make_shared<const Kernel>(kernel);
    newest_.push_back(kept);
  }
}

std::shared_ptr<const Kernel> KernelShelf::find(const std::string& id) const {
  for (const auto& kernel : newest_)
    if (kernel->id == id) return kernel;
  return nullptr;
}

std::shared_ptr<const Kernel> KernelShelf::content(const std::string& hash) const {
  auto found = by_hash_.find(hash);
  return found == by_hash_.end() ? nullptr : found->second;
}

Resolution resolve(const Draft& draft, const KernelShelf& shelf, const DeviceTable& devices, bool device_is_wish) {
  Resolution r;
  r.experiment = Experiment{draft, ""};
  find_config(r, draft, shelf);
  if (r.failure) return r;
  if (auto valid = validate(draft.problem, "problem"); !valid) {
    r.failure = valid.error();
    return r;
  }
  find_device(r, devices, draft.device, device_is_wish);
  if (r.failure || r.wait) return r;
  const int arch = r.place.spec ? r.place.spec->arch : 0;
  if (r.place.spec)
    if (auto runs = catalog::check_runs(*r.kernel, *r.place.spec); !runs) {
      r.failure = runs.error();
      return r;
    }
  if (auto allowed = catalog::check_restrictions(*r.kernel, draft.problem, r.experiment.config, arch); !allowed)
    r.failure = allowed.error();
  return r;
}

}  // namespace attnscope::session
