#pragma once
#include <optional>
#include <string>

#include "device/launch.h"

namespace attnscope::worker {

// The outputs of a run over given buffers, behind a watch in the emulator.
struct OverBuffers {
  device::LaunchOutcome outcome;
  std::string fault;  // an error that the watch found; the kernel then did not run
};

// The outputs of the last kernel that served as a reference. All configs of a sweep are judged by the same one over the
// same inputs, so it runs only once. Call only from the thread that runs experiments.
class KeptReference {
 public:
  static constexpr size_t kMostBytes = size_t{128} << 20;  // of its outputs; larger ones are not kept

  // `key` identifies the kernel, its config, the device and every byte of the inputs. Empty if the kept reference has
  // another key.
  std::optional<OverBuffers> find(const std::string& key) const;
  // Keeps only what judging needs: the outputs, and why there are none.
  void keep(std::string key, const OverBuffers& ran);
  // Frees its memory, because the next run needs no such reference.
  void drop();

 private:
  std::string key_;
  OverBuffers ran_;
};

}  // namespace attnscope::worker
