#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/result.h"

namespace attnscope::platform {

// Writes to a path that a person gave.
// - Follows links and keeps them. The file behind a link is replaced, whole or not at all, and keeps its permissions.
// - Writes into devices, pipes and /dev/stdout directly.
// - Never creates a folder: a mistyped path is a Failure (Stage::store) that names the missing folder.
Result<void> write_output(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_output(const std::filesystem::path& path, std::string_view text);

// Reports now what write_output() would refuse. Call it before the work that produces the output.
Result<void> check_output(const std::filesystem::path& path);

// For output that is a folder of files: creates `folder` in an existing folder, or accepts an existing one. In the
// user's folders for attnscope ($ATTNSCOPE_HOME, XDG) it also creates missing parents.
Result<void> make_output_folder(const std::filesystem::path& folder);

}  // namespace attnscope::platform
