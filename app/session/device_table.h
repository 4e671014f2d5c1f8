#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "session/shared.h"

namespace attnscope::session {

// The devices and the worker that has each. The first worker's devices have their own ids; another worker's are
// "NAME/ID" ("l4box/cuda:0"), and only its name means its best device. Until the first worker has said hello, its
// emulated devices are predicted from the assets.
class DeviceTable {
 public:
  struct Place {
    size_t worker = 0;
    std::string id;        // the session's id
    std::string local_id;  // the worker's id
    const DeviceSpec* spec = nullptr;
  };
  enum class Answer { here, not_yet, nowhere };  // not_yet: a worker that may have it has not said hello yet
  struct Choice {
    std::string id;
    std::string reason;  // a sentence
  };

  DeviceTable(std::vector<std::string> worker_names, std::vector<DeviceSpec> foretold);
  void set_devices(size_t worker, std::vector<DeviceSpec> devices, bool has_driver);  // the worker said hello
  void add_worker(std::string name);  // its devices come with set_devices()
  void remove_worker(size_t worker);  // its devices are gone; the other workers keep their indices
  // The worker is lost. Its known devices stay listed, so that a person can request a retry.
  void give_up(size_t worker, const std::string& reason);

  Answer find(const std::string& id, Place& place) const;
  // Where the device with that id is, or will be once its worker has said hello. Until then `spec` is null; it stays
  // null if the worker has no such device.
  Place place_of(const std::string& id) const;
  // Why a device cannot be found: "there is no device emulated:l5", or why its worker is not available.
  std::string missing(const std::string& id) const;
  // The name of the worker that `id` belongs to; empty for the first worker.
  std::string far_worker(const std::string& id) const;
  // The first GPU, or the first device if there is no GPU. Empty until the first worker has said hello or is lost.
  std::optional<Choice> choose() const;
  const Shared<std::vector<DeviceSpec>>& all() const { return all_; }
  std::string listed() const;  // "emulated:l4, emulated:h200"

 private:
  struct Worker {
    std::string name;                 // empty: it was removed
    std::vector<DeviceSpec> devices;  // with the worker's own ids
    bool settled = false;
    bool has_driver = false;
    std::string trouble;  // why it is not available
  };
  static bool better(const DeviceSpec& spec, const DeviceSpec* than);
  const Worker* worker_named_in(const std::string& id) const;
  std::string global_id(size_t worker, const std::string& id) const;
  void rebuild();

  std::vector<Worker> workers_;
  Shared<std::vector<DeviceSpec>> all_;  // with the session's ids
  std::vector<size_t> worker_of_;        // index of the worker of each device in all_
};

}  // namespace attnscope::session
