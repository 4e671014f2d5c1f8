#pragma once
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace attnscope::platform {

// The JSON in a file of at most `max_bytes`. A file that cannot be read is also a Failure of `stage`.
Result<Json> read_json(const std::filesystem::path& file, uint64_t max_bytes, Stage stage);

// The *.json files of a folder, ordered by name. `error` says why the folder cannot be read.
std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder, std::error_code& error);

}  // namespace attnscope::platform
