#pragma once
#include <spawn.h>

namespace attnscope::platform {

enum class ProcessGroup { callers, own };

// Attributes for every program that is started from here: no signal is blocked or ignored, whatever this process
// ignores (ignore_write_signals()) or the calling thread blocks, because other programs expect neither.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(ProcessGroup group);
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes();
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace attnscope::platform
