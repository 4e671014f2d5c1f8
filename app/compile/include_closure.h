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
    bool settled =
        false;  // it had not changed shortly before it was read: as long as the stamp holds, so does the rest
    std::string hash;
    std::shared_ptr<const ScannedIncludes> includes;
  };
  // What held when a closure was made. Three of four places that are looked at hold no file: that none has come is told
  // by the stamps of the folders that one would have to come into, a few dozen for hundreds of names.
  struct Known {
    std::vector<std::pair<std::filesystem::path, platform::FileStamp>> files, folders;
    std::vector<std::filesystem::path> missing;  // names that are taken by what is no file: no folder tells
    bool settled = false;                        // else the stamps may hold though something changed
    std::shared_ptr<const IncludeClosure> closure;
    bool holds() const;
  };

  std::mutex mutex_;
  std::map<std::string, File> files_;      // by path
  std::map<std::string, Known> closures_;  // by the source's hash and the folders
};

}  // namespace attnscope::compile
