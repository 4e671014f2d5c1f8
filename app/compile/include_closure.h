#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/include_scan.h"
#include "platform/file_stamp.h"

namespace attnscope::compile {

// The files that a compilation may read.
struct IncludeClosure {
  std::vector<std::filesystem::path> files;  // or whole folders, where a name is computed in a way that is not followed
  std::string digest;                        // of their names below their folders and their contents
};

// Finds what a source may include in `folders`, and what that includes in its turn, whatever any #if says. NVRTC has
// neither a callback for includes nor a list of what it read: the closure is what stands in a cached variant's name,
// and what the compiler's thread is allowed to read, so that no file can decide code without deciding the name.
//
// Files are read once and then known by their stamps; a source is known by its own text. May be used by several
// threads.
class IncludeReader {
 public:
  std::shared_ptr<const IncludeClosure> closure(const std::string& source,
                                                const std::vector<std::filesystem::path>& folders);

 private:
  class Walk;
  struct File {
    platform::FileStamp stamp;
    std::string hash;
    std::shared_ptr<const ScannedIncludes> includes;
  };
  // What held when a closure was made: the stamp of every place that was looked at, none where there was no file.
  struct Known {
    std::vector<std::pair<std::filesystem::path, std::optional<platform::FileStamp>>> looked_at;
    std::shared_ptr<const IncludeClosure> closure;
  };

  std::mutex mutex_;
  std::map<std::string, File> files_;      // by path
  std::map<std::string, Known> closures_;  // by the source's hash and the folders
};

}  // namespace attnscope::compile
