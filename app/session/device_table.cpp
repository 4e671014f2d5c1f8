#include "session/device_table.h"

#include "core/device_id.h"
#include "core/joined.h"

namespace attnscope::session {

DeviceTable::DeviceTable(std::vector<std::string> worker_names, std::vector<DeviceSpec> foretold) {
  for (std::string& name : worker_names) workers_.push_back(Worker{std::move(name), {}, false, false, {}});
  if (!workers_.empty()) workers_.front().devices = std::move(foretold);
  rebuild();
}

void DeviceTable::set_devices(size_t worker, std::vector<DeviceSpec> devices, bool has_driver) {
  workers_[worker].devices = std::move(devices);
  workers_[worker].settled = true;
  workers_[worker].has_driver = has_driver;
  workers_[worker].trouble.clear();
  rebuild();
}

void DeviceTable::add_worker(std::string name) { workers_.push_back(Worker{std::move(name), {}, false, false, {}}); }

void DeviceTable::remove_worker(size_t worker) {
  workers_[worker] = Worker{{}, {}, true, false, {}};
  rebuild();
}

void DeviceTable::give_up(size_t worker, const std::string& reason) {
  workers_[worker].settled = true;
  workers_[worker].trouble = reason;
}

std::string DeviceTable::global_id(size_t worker, const std::string& id) const {
  return worker == 0 ? id : id_at(workers_[worker].name, id);
}

void DeviceTable::rebuild() {
  std::vector<DeviceSpec> all;
  worker_of_.clear();
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    for (DeviceSpec spec : workers_[worker].devices) {
      spec.id = global_id(worker, spec.id);
      all.push_back(std::move(spec));
      worker_of_.push_back(worker);
    }
  }
  all_ = share(std::move(all));
}

// A GPU comes before an emulated device. Within a kind the first one wins, because a worker lists its default first.
bool DeviceTable::better(const DeviceSpec& spec, const DeviceSpec* than) {
  return than == nullptr || (than->emulated && !spec.emulated);
}

const DeviceTable::Worker* DeviceTable::worker_named_in(const std::string& id) const {
  for (size_t worker = 1; worker < workers_.size(); ++worker) {
    const std::string& name = workers_[worker].name;
    if (!name.empty() && DeviceId(id).is_of(name)) return &workers_[worker];
  }
  return nullptr;
}

DeviceTable::Answer DeviceTable::find(const std::string& id, Place& place) const {
  const DeviceSpec* found = nullptr;
  const Worker* named = worker_named_in(id);
  const bool by_worker = named != nullptr && named->name == id;
  for (size_t index = 0; index < all_->size(); ++index) {
    const DeviceSpec& spec = (*all_)[index];
    const size_t worker = worker_of_[index];
    const bool fits = by_worker ? &workers_[worker] == named && better(spec, found) : spec.id == id;
    if (!fits) continue;
    found = &spec;
    const size_t prefix = worker == 0 ? 0 : workers_[worker].name.size() + 1;
    place = Place{worker, spec.id, spec.id.substr(prefix), found};
  }
  if (found != nullptr) return Answer::here;
  if (named != nullptr) return named->settled ? Answer::nowhere : Answer::not_yet;
  return workers_.empty() || workers_.front().settled ? Answer::nowhere : Answer::not_yet;
}

DeviceTable::Place DeviceTable::place_of(const std::string& id) const {
  Place place;
  if (find(id, place) == Answer::here) return place;
  const Worker* named = worker_named_in(id);
  if (named == nullptr) return {0, id, id, nullptr};
  return {static_cast<size_t>(named - workers_.data()), id, id.substr(named->name.size() + 1), nullptr};
}

std::string DeviceTable::missing(const std::string& id) const {
  const Worker* named = worker_named_in(id);
  if (named == nullptr || named->trouble.empty()) return "there is no device " + id;
  return "worker " + named->name + " is not available: " + named->trouble;
}

std::string DeviceTable::far_worker(const std::string& id) const {
  const Worker* named = worker_named_in(id);
  return named == nullptr ? "" : named->name;
}

std::optional<DeviceTable::Choice> DeviceTable::choose() const {
  if (workers_.empty() || !workers_.front().settled) return std::nullopt;
  const DeviceSpec* best = nullptr;
  for (const DeviceSpec& spec : *all_)
    if (better(spec, best)) best = &spec;
  if (best == nullptr) return std::nullopt;
  const DeviceSpec& chosen = *best;
  if (!chosen.emulated) return Choice{chosen.id, chosen.id + ", " + chosen.name + ": the first GPU found."};
  const std::string why = workers_.front().has_driver ? "No GPU was found" : "No NVIDIA driver was found";
  return Choice{chosen.id, why + ", so the kernel's machine code for the " + chosen.name +
                               " is executed on this computer's processor (" + chosen.id + ")."};
}

std::string DeviceTable::listed() const { return all_->empty() ? "none" : joined(*all_, &DeviceSpec::id); }

}  // namespace attnscope::session
