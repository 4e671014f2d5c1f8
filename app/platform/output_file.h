#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/result.h"

namespace attnscope::platform {

// Writes to a path that a person gave.
// - Follows a link and keeps it; the file behind it is replaced, whole or not at all, and keeps its rights.
// - Writes into a device, a pipe and /dev/stdout as they are.
// - Never makes a folder: a mistyped path is a Failure (Stage::store) that names the missing folder.
Result<void> write_output(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_output(const std::filesystem::path& path, std::string_view text);

// What write_output() would refuse now; ask before the work that makes the output.
Result<void> check_output(const std::filesystem::path& path);

// For output that is a folder of files: makes `folder` in an existing folder, or takes the one that is there. In the
// user's folders for attnscope ($ATTNSCOPE_HOME, XDG) it also makes missing parents.
Result<void> make_output_folder(const std::filesystem::path& folder);

}  // namespace attnscope::platform
