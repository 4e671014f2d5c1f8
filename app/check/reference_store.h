#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "check/reference.h"

namespace attnscope::check {

// References on disk, one file a problem and accumulation type, shared by every process. A file that is truncated,
// altered or of another version is taken for absent and remade; the oldest used go when the folder is over its size.
class ReferenceStore {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{512} << 20;
  static constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;  // a larger one is as quickly remade as read

  explicit ReferenceStore(std::filesystem::path folder, uint64_t max_bytes = kDefaultBytes);

  std::shared_ptr<const Reference> find(const Problem& problem, Accumulate accumulate) const;  // null: absent
  // Failure (Stage::store) naming the file: a caller may go on without it.
  Result<void> keep(const Reference& reference) const;
  std::filesystem::path path_of(const Problem& problem, Accumulate accumulate) const;

 private:
  void trim() const;

  std::filesystem::path folder_;
  uint64_t max_bytes_;
};

// From the store when it is there, else made and kept. `store` may be null. What the store could not keep is lost
// quietly: the reference is as good, and the next run makes it again.
Result<std::shared_ptr<const Reference>> reference_for(const Problem& problem, const AttentionInputs& inputs,
                                                       Accumulate accumulate, const ReferenceOptions& options,
                                                       const ReferenceStore* store);

}  // namespace attnscope::check
