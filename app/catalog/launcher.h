#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "catalog/whole_source.h"

namespace attnscope::catalog {

// Another file of the project that launches a file's kernels, or includes it.
struct Launcher {
  std::string name;      // as a person finds it from the kernel's folder
  std::string text;      // with its headers pasted in, without the kernel's file and what that has
  std::string together;  // the same with the kernel's file; empty if it does not include it
  bool uses = false;     // it names the kernel, or calls what launches it
};

// How a file of the project is made whole, without the files in `above`.
using MakeWhole =
    std::function<Result<WholeSource>(const std::filesystem::path& file, const std::set<std::filesystem::path>& above)>;

// The nearest such files, at most 3, those that use the kernel first, and of them those that include the file. `own` is
// the file with its headers, `entry` the kernel that is meant; empty: any of the file's. A file counts if it includes
// the file, or declares the kernel, or calls the function that launches it and shares a header with it. One that
// defines a kernel of that name does not.
std::vector<Launcher> launchers_of(const std::filesystem::path& file, const WholeSource& own, const std::string& entry,
                                   Project& project, const MakeWhole& whole);

}  // namespace attnscope::catalog
