#pragma once
#include <optional>
#include <string>

#include "device/launch.h"

namespace attnscope::worker {

// What a run over given buffers made of them, behind a watch in the emulator.
struct OverBuffers {
  device::LaunchOutcome outcome;
  std::string fault;  // what the watch found, if it is an error: then the kernel did not run
};

// What the last kernel that served as a reference left. The configs of a sweep are all held to the same one over the
// same inputs, so it runs once for all of them. Of the thread that runs experiments.
class KeptReference {
 public:
  static constexpr size_t kMostBytes = size_t{128} << 20;  // of its outputs; a larger one is not kept

  // `key` stands for the kernel, its config, the device and every byte of the inputs. Empty: another one is kept.
  std::optional<OverBuffers> find(const std::string& key) const;
  // Only what a judge reads: the outputs, and why there are none.
  void keep(std::string key, const OverBuffers& ran);
  // Its memory is free: another run needs no such reference.
  void drop();

 private:
  std::string key_;
  OverBuffers ran_;
};

}  // namespace attnscope::worker
