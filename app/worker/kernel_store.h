#pragma once
#include <list>
#include <string>

#include "core/result.h"
#include "protocol/message.h"

namespace attnscope::worker {

// The kernels that clients have sent, by content hash: a worker has no kernels folder. Bounded: the least recently used
// is dropped first and requested from the client again when needed.
class KernelStore {
 public:
  explicit KernelStore(size_t most = 64, size_t most_bytes = size_t{64} << 20) : most_(most), most_bytes_(most_bytes) {}
  // A content that does not match its hash is a Failure (Stage::protocol): it would run under another kernel's name.
  Result<void> keep(const protocol::KernelContent& kernel);
  const protocol::KernelContent* find(const std::string& hash);  // null: not here

 private:
  size_t most_, most_bytes_;
  size_t bytes_ = 0;                            // of what is kept
  std::list<protocol::KernelContent> kernels_;  // latest used first
};

}  // namespace attnscope::worker
