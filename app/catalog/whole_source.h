#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::catalog {

// A .cu file with its own project's headers pasted in, so that it needs no other file of the project. Where headers are
// pasted, #line names the original files and lines: compilers and findings show a person's own files, by their paths
// from the .cu file's folder.
struct WholeSource {
  std::string text;
  std::vector<std::string> pasted;   // "common.h", as the includes name them, each once
  std::vector<std::string> missing;  // "common.h, which line 26 of adamw.cu includes; --include /src has it"
  std::vector<std::string> added;    // CUDA's headers whose words the text has, where a header is missing
  bool changed = false;              // it is not the file's own text
};

// Pastes what `#include "x"` finds beside the including file and in `folders` (and `<x>`, if one of `folders` has it),
// but nothing outside the file's own folder and these. A header is pasted where it is first included, under a comment
// that names it. Where one is not found, CUDA's own that it would have included are added in front. Names for which
// `known` is true are left to the compiler. Failure (Stage::input): a header that cannot be read, or more text than a
// source may have.
Result<WholeSource> whole_source(const std::filesystem::path& file, const std::string& source,
                                 const std::vector<std::filesystem::path>& folders,
                                 const std::function<bool(const std::string&)>& known);

}  // namespace attnscope::catalog
