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

Result<void> find_device(Resolution& r, const DeviceTable& devices, const std::string& asked, bool is_wish) {
  const auto answer = asked.empty() ? DeviceTable::Answer::nowhere : devices.find(asked, r.place);
  if (answer == DeviceTable::Answer::here) {
    r.experiment.device = r.place.id;
  } else if (answer == DeviceTable::Answer::not_yet) {
    r.wait = true;
    r.wait_for = devices.far_worker(asked);
  } else if (asked.empty() || (is_wish && devices.choose())) {
    take_default_device(r, devices, asked);
  } else {
    return fail(Stage::device, devices.missing(asked), "Devices here: " + devices.listed() + ".");
  }
  return {};
}

// Resolves the device last: find() sets it in `r` or says why it cannot.
template <class Find>
Result<void> fill(Resolution& r, const Draft& draft, const KernelShelf& shelf, Find find) {
  r.kernel = shelf.find(draft.kernel);
  if (!r.kernel) {
    std::vector<std::string> known;
    for (const auto& kernel : shelf.all()) known.push_back(kernel->id);
    return fail(Stage::input, "there is no kernel \"" + draft.kernel + "\"",
                names_to_choose(draft.kernel, known) + " Give others with --kernels DIR.");
  }
  r.experiment.kernel_hash = r.kernel->content_hash;
  auto config = catalog::complete_config(*r.kernel, draft.config.knobs, draft.config.options);
  if (!config) return fail(config.error());
  r.experiment.config = std::move(*config);
  if (auto valid = validate(draft.problem, "problem"); !valid) return valid;
  if (Result<void> found = find(); !found || r.wait) return found;
  if (auto runs = catalog::check_runs(*r.kernel, *r.place.spec); !runs) return runs;
  return catalog::check_restrictions(*r.kernel, draft.problem, r.experiment.config, r.place.spec->arch);
}

}  // namespace

void KernelShelf::set(const std::vector<Kernel>& kernels) {
  newest_.clear();
  for (const Kernel& kernel : kernels) {
    auto& kept = by_hash_[kernel.content_hash];
    if (!kept) kept = share(kernel);
    newest_.push_back(kept);
  }
}

Shared<Kernel> KernelShelf::find(const std::string& id) const {
  for (const auto& kernel : newest_)
    if (kernel->id == id) return kernel;
  return nullptr;
}

Shared<Kernel> KernelShelf::content(const std::string& hash) const {
  auto found = by_hash_.find(hash);
  return found == by_hash_.end() ? nullptr : found->second;
}

Resolution resolve(const Draft& draft, const KernelShelf& shelf, const DeviceTable& devices, bool device_is_wish) {
  Resolution r;
  r.experiment = Experiment{draft, ""};
  const auto find = [&] { return find_device(r, devices, draft.device, device_is_wish); };
  if (auto filled = fill(r, draft, shelf, find); !filled) r.failure = filled.error();
  return r;
}

Resolution resolve_shared(const Draft& draft, const KernelShelf& shelf, const DeviceTable& devices,
                          const Sharing& sharing) {
  Resolution r;
  r.experiment = Experiment{draft, ""};
  r.experiment.device = sharing.device.id;
  for (const std::string& id : sharing.devices) r.shared_places.push_back(devices.place_of(id));
  const auto find = [&]() -> Result<void> {
    r.place = {0, sharing.device.id, sharing.device.id, &sharing.device};
    return {};
  };
  if (auto filled = fill(r, draft, shelf, find); !filled) r.failure = filled.error();
  return r;
}

}  // namespace attnscope::session
