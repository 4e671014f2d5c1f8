#pragma once
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace attnscope::platform {

// The JSON in a file of at most `max_bytes`. A file that cannot be read is a Failure of `stage`, too.
Result<Json> read_json(const std::filesystem::path& file, uint64_t max_bytes, Stage stage);

// The files *.json of a folder in the order of their names. `error` says why the folder cannot be read.
std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder, std::error_code& error);

}  // namespace attnscope::platform
