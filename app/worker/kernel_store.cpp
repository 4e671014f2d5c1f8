#include "worker/kernel_store.h"

#include <algorithm>

#include "catalog/catalog.h"

namespace attnscope::worker {

Result<void> KernelStore::keep(const protocol::KernelContent& kernel) {
  const std::string actual = catalog::content_hash(kernel.manifest, kernel.source);
  if (actual != kernel.hash)
    return fail(
        Stage::protocol,
        kernel.manifest_name + ": its content hashes to " + actual + ", not to " + kernel.hash + " as announced",
        "The file changed while it was sent: run it again.");
  if (find(kernel.hash)) return {};
  kernels_.push_front(kernel);
  if (kernels_.size() > most_) kernels_.pop_back();
  return {};
}

const protocol::KernelContent* KernelStore::find(const std::string& hash) {
  const auto found =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& kernel) { return kernel.hash == hash; });
  if (found == kernels_.end()) return nullptr;
  kernels_.splice(kernels_.begin(), kernels_, found);
  return &kernels_.front();
}

}  // namespace attnscope::worker
