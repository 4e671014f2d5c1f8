#pragma once
#include <filesystem>
#include <memory>

#include "core/result.h"

namespace attnscope::platform {

// A new folder below $TMPDIR, or /tmp, that only this user can read. It is removed with its last owner.
class TemporaryFolder {
 public:
  // Failure (Stage::store) if none can be created there.
  static Result<std::shared_ptr<const TemporaryFolder>> make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace attnscope::platform
