#include "worker/kernel_store.h"

#include <algorithm>

#include "catalog/catalog.h"

namespace attnscope::worker {
namespace {
size_t bytes_of(const protocol::KernelContent& kernel) { return kernel.source.size() + kernel.manifest.size(); }
}  // namespace

Result<void> KernelStore::keep(const protocol::KernelContent& kernel) {
  const std::string actual = catalog::content_hash(kernel.manifest, kernel.source);
  if (actual != kernel.hash)
    return fail(
        Stage::protocol,
        kernel.manifest_name + ": its content hashes to " + actual + ", not to " + kernel.hash + " as announced",
        "The file changed while it was sent: run it again.");
  if (find(kernel.hash)) return {};
  kernels_.push_front(kernel);
  bytes_ += bytes_of(kernel);
  while (kernels_.size() > 1 && (kernels_.size() > most_ || bytes_ > most_bytes_)) {
    bytes_ -= bytes_of(kernels_.back());
    kernels_.pop_back();
  }
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
