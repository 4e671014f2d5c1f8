#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::catalog {

// The files of a kernel that was copied from another one for editing: ID.cu, ID.json and the original source.
struct OwnCopy {
  std::string id;
  std::filesystem::path source;
};

// Writes the source and the manifest of `kernel` into `folder`, which is created if it is missing, as ID_copy,
// ID_copy2, …: the first id that is not in `known` and has no file there. The source is also written as ID.cu.original,
// which never changes. Failure: a kernel without a source (Stage::input); a folder that accepts no files
// (Stage::store), in which none of them is left.
Result<OwnCopy> copy_kernel(const Kernel& kernel, const std::filesystem::path& folder,
                            const std::vector<Kernel>& known);

// The file of a kernel's source, beside its manifest.
std::filesystem::path source_file(const Kernel& kernel);

// The source that a kernel was copied from; empty if it is not such a copy. Failure (Stage::store): it cannot be read.
Result<std::optional<std::string>> original_of(const Kernel& kernel);

// The result of a save; another program may have written the file in the meantime.
struct SavedText {
  bool written = false;
  std::string on_disk;  // the file's present content
};

// Writes `text` into `file`, whole, if the file still contains `based_on` or no longer exists; otherwise the file is
// not changed. Failure (Stage::store; Stage::catalog for a text that cannot be a source): nothing was written, and why.
Result<SavedText> save_source(const std::filesystem::path& file, const std::string& based_on, const std::string& text);

}  // namespace attnscope::catalog
