#include "worker/kept_reference.h"

#include <utility>

namespace attnscope::worker {

std::optional<OverBuffers> KeptReference::find(const std::string& key) const {
  return key == key_ ? std::optional(ran_) : std::nullopt;
}

void KeptReference::drop() {
  key_.clear();
  ran_ = {};
}

void KeptReference::keep(std::string key, const OverBuffers& ran) {
  drop();
  size_t bytes = 0;
  for (const auto& output : ran.outcome.outputs) bytes += output->data().size();
  if (bytes > kMostBytes) return;
  key_ = std::move(key);
  ran_.outcome.outputs = ran.outcome.outputs;
  ran_.outcome.partial = ran.outcome.partial;
  ran_.fault = ran.fault;
}

}  // namespace attnscope::worker
