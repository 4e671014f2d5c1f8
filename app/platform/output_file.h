#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/result.h"

namespace attnscope::platform {

// Writes to a path that a person gave.
// - A link is followed and stays; the file that it leads to is replaced, whole or not at all, and keeps its rights.
// - A device, a pipe and /dev/stdout are written into as they are.
// - No folder is ever made: a mistyped path is a Failure (Stage::store) that names the folder which does not exist.
Result<void> write_output(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_output(const std::filesystem::path& path, std::string_view text);

// What write_output() would refuse by now, asked before the work that makes the output.
Result<void> check_output(const std::filesystem::path& path);

// For output that is a folder of files: makes `folder` itself, in a folder that exists. One that is there is fine.
// In the user's folders for attnscope ($ATTNSCOPE_HOME, XDG), missing parents are made too.
Result<void> make_output_folder(const std::filesystem::path& folder);

}  // namespace attnscope::platform
