#pragma once
#include <list>
#include <string>

#include "core/result.h"
#include "protocol/message.h"

namespace attnscope::worker {

// The kernels that clients have sent, by content hash; a worker has no kernels folder. Bounded: drops the least
// recently used one, which is requested from the client again when needed.
class KernelStore {
 public:
  explicit KernelStore(size_t most = 64, size_t most_bytes = size_t{64} << 20) : most_(most), most_bytes_(most_bytes) {}
  // Content that does not match its hash is a Failure (Stage::protocol): it would run under another kernel's name.
  Result<void> keep(const protocol::KernelContent& kernel);
  const protocol::KernelContent* find(const std::string& hash);  // null: not kept

 private:
  size_t most_, most_bytes_;
  size_t bytes_ = 0;                            // of all kept kernels
  std::list<protocol::KernelContent> kernels_;  // most recently used first
};

}  // namespace attnscope::worker
