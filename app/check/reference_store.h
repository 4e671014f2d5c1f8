#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "check/reference.h"

namespace attnscope::check {

// References on disk, one file per problem and accumulation type, shared by every process. A file that is truncated,
// altered or of another version counts as missing and is made again. When the folder exceeds its size, the files least
// recently used go.
class ReferenceStore {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{512} << 20;
  static constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;  // making a larger one again is as quick as reading it

  explicit ReferenceStore(std::filesystem::path folder, uint64_t max_bytes = kDefaultBytes);

  std::shared_ptr<const Reference> find(const Problem& problem, Accumulate accumulate) const;  // null: missing
  // Failure (Stage::store) naming the file; the caller may go on without it.
  Result<void> keep(const Reference& reference) const;
  std::filesystem::path path_of(const Problem& problem, Accumulate accumulate) const;

 private:
  void trim() const;

  std::filesystem::path folder_;
  uint64_t max_bytes_;
};

// Takes the reference from the store if it is there; otherwise makes and keeps it. `store` may be null. A failure to
// keep it is ignored: the reference is still good, and the next run makes it again.
Result<std::shared_ptr<const Reference>> reference_for(const Problem& problem, const AttentionInputs& inputs,
                                                       Accumulate accumulate, const ReferenceOptions& options,
                                                       const ReferenceStore* store);

}  // namespace attnscope::check
