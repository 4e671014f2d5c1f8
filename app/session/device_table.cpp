#include "session/device_table.h"

#include <algorithm>

namespace attnscope::session {

DeviceTable::DeviceTable(std::vector<std::string> worker_names, std::vector<DeviceSpec> foretold) {
  for (std::string& name : worker_names) workers_.push_back(Worker{std::move(name), {}, false, false});
  if (!workers_.empty()) workers_.front().devices = std::move(foretold);
  rebuild();
}

void DeviceTable::set_devices(size_t worker, std::vector<DeviceSpec> devices, bool has_driver) {
  workers_[worker].devices = std::move(devices);
  workers_[worker].settled = true;
  workers_[worker].has_driver = has_driver;
  rebuild();
}

void DeviceTable::give_up(size_t worker) { workers_[worker].settled = true; }

std::string DeviceTable::global_id(size_t worker, const std::string& id) const {
  return worker == 0 ? id : workers_[worker].name + "/" + id;
}

void DeviceTable::rebuild() {
  auto all = std::make_shared<std::vector<DeviceSpec>>();
  worker_of_.clear();
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    for (DeviceSpec spec : workers_[worker].devices) {
      spec.id = global_id(worker, spec.id);
      all->push_back(std::move(spec));
      worker_of_.push_back(worker);
    }
  }
  all_ = std::move(all);
}

DeviceTable::Answer DeviceTable::find(const std::string& id, Place& place) const {
  for (size_t index = 0; index < all_->size(); ++index) {
    if ((*all_)[index].id != id) continue;
    const size_t worker = worker_of_[index];
    const size_t prefix = worker == 0 ? 0 : workers_[worker].name.size() + 1;
    place = Place{worker, id.substr(prefix), &(*all_)[index]};
    return Answer::here;
  }
  for (size_t worker = 1; worker < workers_.size(); ++worker)
    if (id.starts_with(workers_[worker].name + "/"))
      return workers_[worker].settled ? Answer::nowhere : Answer::not_yet;
  return workers_.empty() || workers_.front().settled ? Answer::nowhere : Answer::not_yet;
}

std::optional<DeviceTable::Choice> DeviceTable::choose() const {
  if (workers_.empty() || !workers_.front().settled) return std::nullopt;
  const auto gpu = std::find_if(all_->begin(), all_->end(), [](const DeviceSpec& spec) { return !spec.emulated; });
  if (gpu != all_->end()) return Choice{gpu->id, gpu->id + ", " + gpu->name + ": the first GPU found."};
  if (all_->empty()) return std::nullopt;
  const auto l4 =
      std::find_if(all_->begin(), all_->end(), [](const DeviceSpec& spec) { return spec.id == "emulated:l4"; });
  const DeviceSpec& chosen = l4 != all_->end() ? *l4 : all_->front();
  const std::string why = workers_.front().has_driver ? "No GPU was found" : "No NVIDIA driver was found";
  return Choice{chosen.id, why + ", so the kernel's machine code for the " + chosen.name +
                               " is executed on this computer's processor (" + chosen.id + ")."};
}

std::string DeviceTable::listed() const {
  std::string text;
  for (const DeviceSpec& spec : *all_) text += (text.empty() ? "" : ", ") + spec.id;
  return text.empty() ? "none" : text;
}

}  // namespace attnscope::session
