#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/include_scan.h"
#include "core/result.h"
#include "platform/file_stamp.h"

namespace attnscope::compile {

// The files that a compilation may read.
struct IncludeClosure {
  std::vector<std::filesystem::path> files;  // or whole folders, for a computed name that cannot be followed
  std::string digest;                        // over their contents and their names below their folders
};

inline constexpr size_t kMostAbsent = 8;  // headers that a kernel may do without
// True if the source itself includes `header`, rather than a CUDA header that it includes.
bool names_header(const std::string& source, const std::string& header);

// Where the compiler may read more than a closure, only the kernel's own text can be checked: it must include
// everything by plain names. Failure: Stage::compile, at the line of the source, which is shown as `name`.
Result<void> check_own_includes(const std::string& source, const std::string& name);

// Finds what a source may include in `folders`, and what those files include, whatever any #if says. NVRTC offers
// neither a callback for includes nor a list of the files that it read. The closure is part of a cached variant's name,
// and the compiler's thread may read only the closure, so no file can change the code without changing the name.
//
// Files are read once and then recognised by their stamps, a source by its text. Several threads may use it.
class IncludeReader {
 public:
  std::shared_ptr<const IncludeClosure> closure(const std::string& source,
                                                const std::vector<std::filesystem::path>& folders);

 private:
  class Walk;
  struct File {
    platform::FileStamp stamp;
    bool settled = false;  // it did not change shortly before it was read, so its stamp is reliable
    std::string hash;
    std::shared_ptr<const ScannedIncludes> includes;
  };
  // The state in which a closure was made. Three of four searched places have no file. The stamps of the folders above
  // them show if one appears: a few dozen folders for hundreds of names.
  struct Known {
    std::vector<std::pair<std::filesystem::path, platform::FileStamp>> files, folders;
    std::vector<std::filesystem::path> missing;  // names that are not files and that no folder's stamp covers
    bool settled = false;                        // if false, something may have changed although the stamps match
    std::shared_ptr<const IncludeClosure> closure;
    bool holds() const;
  };

  std::mutex mutex_;
  std::map<std::string, File> files_;      // by path
  std::map<std::string, Known> closures_;  // by the source's hash and the folders
};

}  // namespace attnscope::compile
