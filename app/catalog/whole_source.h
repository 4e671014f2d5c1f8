#pragma once
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "catalog/project.h"
#include "core/result.h"

namespace attnscope::catalog {

// A .cu file with its own project's headers pasted in, so that it needs no other file of the project. Where headers are
// pasted, #line names the original files and lines: compilers and findings show a person's own files, by their paths
// from the .cu file's folder.
struct WholeSource {
  std::string text;
  std::vector<std::string> pasted;             // "common.h", as the includes name them, each once
  std::vector<std::string> found;              // in the project's other folders: "common.h: ../include/common.h"
  std::vector<std::string> missing;            // "common.h, which line 26 of adamw.cu includes; --include /src has it"
  std::vector<std::string> added;              // CUDA's headers whose words the text has, where a header is missing
  std::set<std::filesystem::path> files = {};  // whose texts are in it, without links
  bool fenced = false;                         // it was between lines of ``` or below "c++"; they are left out
  bool changed = false;                        // it is not the file's own text
};

// Where headers that are in none of the folders are looked for.
struct ProjectHeaders {
  Project& project;
  std::function<bool(const std::string&)> is_cudas;  // whether CUDA has a header of this name
};

// Pastes what `#include "x"` finds beside the including file and in `folders` (and `<x>`, if one of `folders` has it),
// then what `project`, if given, has of that name, but nothing outside the file's own folder, these and the project's.
// A header is pasted where it is first included, under a comment that names it. Where one is not found, CUDA's own that
// it would have included are added in front. Names for which `known` is true are left to the compiler. Failure
// (Stage::input): a header that cannot be read, or more text than a source may have. `above`: files whose headers'
// places are taken by the text in front of this one; they are not pasted.
Result<WholeSource> whole_source(const std::filesystem::path& file, const std::string& source,
                                 const std::vector<std::filesystem::path>& folders,
                                 const std::function<bool(const std::string&)>& known,
                                 ProjectHeaders* project = nullptr, const std::set<std::filesystem::path>& above = {});

}  // namespace attnscope::catalog
