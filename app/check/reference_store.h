#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "check/reference.h"

namespace attnscope::check {

// References on disk, one file per problem and accumulation type, shared by every process. A file that is truncated,
// altered or of another version counts as missing and is made again. When the folder exceeds its size, the least
// recently used files are deleted.
class ReferenceStore {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{512} << 20;
  // Computing a larger one again is as fast as reading it.
  static constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

  explicit ReferenceStore(std::filesystem::path folder, uint64_t max_bytes = kDefaultBytes);

  std::shared_ptr<const Reference> find(const Problem& problem, Accumulate accumulate) const;  // null: missing
  // Failure (Stage::store) that names the file. The caller may continue without it.
  Result<void> keep(const Reference& reference) const;
  std::filesystem::path path_of(const Problem& problem, Accumulate accumulate) const;

 private:
  void trim() const;

  std::filesystem::path folder_;
  uint64_t max_bytes_;
};

// Returns the stored reference if there is one; otherwise computes and stores it. `store` may be null. A failure to
// store it is ignored: the reference is still good, and the next run computes it again.
Result<std::shared_ptr<const Reference>> reference_for(const Problem& problem, const AttentionInputs& inputs,
                                                       Accumulate accumulate, const ReferenceOptions& options,
                                                       const ReferenceStore* store);

}  // namespace attnscope::check
