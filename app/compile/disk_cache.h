#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace attnscope::compile {

// One file an entry, named by its content's key. Entries are checksummed: a truncated or damaged one is refused. They
// are written whole or not at all, so that two processes may use one folder. Past the cap the longest unused go first.
class DiskCache {
 public:
  // An empty folder: nothing is kept. `kind` is the files' extension and the first word in them.
  DiskCache(std::filesystem::path folder, std::string kind, uint64_t cap_bytes);

  struct Lookup {
    std::optional<std::string> payload;
    std::string complaint;  // one sentence when there is a file that cannot be used; names it
  };
  Lookup get(const std::string& key) const;  // marks the entry as used now
  // Failure (Stage::store) when the disk is full and the like: nothing is lost but the next run's time.
  Result<void> put(const std::string& key, const std::string& payload) const;
  // Down to the cap; also what a process that died left half-written an hour ago.
  void trim() const;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string kind_;
  uint64_t cap_bytes_;
};

}  // namespace attnscope::compile
