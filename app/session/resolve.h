#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/device_table.h"
#include "session/session.h"

namespace attnscope::session {

// The newest version of each kernel, and every version seen in this session by its content hash, so that a waiting
// request runs the version it was made for.
class KernelShelf {
 public:
  void set(const std::vector<Kernel>& kernels);
  Shared<Kernel> find(const std::string& id) const;
  Shared<Kernel> content(const std::string& hash) const;
  const std::vector<Shared<Kernel>>& all() const { return newest_; }

 private:
  std::vector<Shared<Kernel>> newest_;
  std::map<std::string, Shared<Kernel>> by_hash_;
};

// A draft completed to an experiment, or the reason why that is not possible.
struct Resolution {
  Experiment experiment;                               // complete as far as possible
  Shared<Kernel> kernel;                               // null: unknown
  DeviceTable::Place place;                            // place.spec is null unless the device is known
  std::vector<DeviceTable::Place> shared_places = {};  // resolve_shared() only: the places of the sharing devices
  std::optional<Failure> failure;
  bool wait = false;          // a worker must say hello first; until then experiment.device is a guess
  std::string wait_for;       // the name of that worker; empty: the first one
  std::string device_reason;  // why this device was chosen, if the draft names none or its wish cannot be fulfilled
};

// `device_is_wish`: an unknown device is replaced by the default choice instead of refused.
Resolution resolve(const Draft& draft, const KernelShelf& shelf, const DeviceTable& devices, bool device_is_wish);

// resolve() for the device that `sharing` describes, whose workers may connect later. place.spec is sharing.device.
Resolution resolve_shared(const Draft& draft, const KernelShelf& shelf, const DeviceTable& devices,
                          const Sharing& sharing);

}  // namespace attnscope::session
