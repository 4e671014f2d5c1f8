#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace attnscope::compile {

// One file per entry, named by its key. Entries have a checksum, and a truncated or damaged one is refused. They are
// written whole or not at all, so that two processes may share a folder. Above the cap, the least recently used entries
// are deleted.
class DiskCache {
 public:
  // An empty folder name means no cache. `kind` is the files' extension and their first word.
  DiskCache(std::filesystem::path folder, std::string kind, uint64_t cap_bytes);

  struct Lookup {
    std::optional<std::string> payload;
    std::string complaint;  // a sentence that names an unusable file, if there is one
  };
  Lookup get(const std::string& key) const;  // marks the entry as used now
  // Failure (Stage::store), for a full disk and the like, means only that the next run takes longer.
  Result<void> put(const std::string& key, const std::string& payload) const;
  // Deletes entries down to the cap, and temporary files that a process left unfinished an hour ago or more.
  void trim() const;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string kind_;
  uint64_t cap_bytes_;
};

}  // namespace attnscope::compile
