#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::catalog {

// A .cu file with the headers of its own project pasted in, so that it stands alone.
struct WholeSource {
  std::string text;
  std::vector<std::string> pasted;   // "common.h", as the file's includes name them, each once
  std::vector<std::string> missing;  // "common.h, which line 26 of adamw.cu includes; --include /src has it"
};

// Pastes what `#include "x"` (and `<x>`, where a folder of `folders` has it) finds beside the including file and in
// `folders`, and nothing that lies outside of the file's own folder and of these. A header is pasted where it is first
// included, under a comment that names it. Names that `known` knows are left to the compiler. Failure (Stage::input): a
// header that cannot be read, or more text than a source may have.
Result<WholeSource> whole_source(const std::filesystem::path& file, const std::string& source,
                                 const std::vector<std::filesystem::path>& folders,
                                 const std::function<bool(const std::string&)>& known);

}  // namespace attnscope::catalog
