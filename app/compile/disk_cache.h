#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace attnscope::compile {

// One file per entry, named by its key. Entries have a checksum: a truncated or damaged one is refused. They are
// written whole or not at all, so two processes may share a folder. Above the cap, the least recently used go first.
class DiskCache {
 public:
  // An empty folder name means no cache. `kind` is the files' extension and the first word in them.
  DiskCache(std::filesystem::path folder, std::string kind, uint64_t cap_bytes);

  struct Lookup {
    std::optional<std::string> payload;
    std::string complaint;  // one sentence naming a file that cannot be used, if there is one
  };
  Lookup get(const std::string& key) const;  // marks the entry as used now
  // Failure (Stage::store) when the disk is full and the like: the next run only takes longer.
  Result<void> put(const std::string& key, const std::string& payload) const;
  // Removes entries down to the cap, and temporary files that a process left unfinished an hour ago or more.
  void trim() const;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string kind_;
  uint64_t cap_bytes_;
};

}  // namespace attnscope::compile
