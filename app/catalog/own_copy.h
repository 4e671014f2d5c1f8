#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::catalog {

// The files of a kernel that began as a copy of another one, to be edited: ID.cu, ID.json and what it was copied from.
struct OwnCopy {
  std::string id;
  std::filesystem::path source;
};

// Writes the source and the manifest of `kernel` into `folder`, which is made if it is missing, as ID_copy, ID_copy2,
// …: the first id that neither `known` nor a file there has. The source is written once more, as ID.cu.original, which
// stays as it is. Failure: a kernel without a source (Stage::input); a folder that takes no files (Stage::store), which
// then has none of them.
Result<OwnCopy> copy_kernel(const Kernel& kernel, const std::filesystem::path& folder,
                            const std::vector<Kernel>& known);

// The file of a kernel's source, beside its manifest.
std::filesystem::path source_file(const Kernel& kernel);

// The source that a kernel was copied from; empty: it is not such a copy. Failure (Stage::store): it cannot be read.
Result<std::optional<std::string>> original_of(const Kernel& kernel);

// What came of a save: another program may have written the file meanwhile.
struct SavedText {
  bool written = false;
  std::string on_disk;  // what the file holds now
};

// Writes `text` into `file`, whole, if the file still holds `based_on` or is gone; else it stays as it is. Failure
// (Stage::store; Stage::catalog for a text that no source may be): nothing was written, and why.
Result<SavedText> save_source(const std::filesystem::path& file, const std::string& based_on, const std::string& text);

}  // namespace attnscope::catalog
