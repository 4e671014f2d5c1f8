#pragma once
#include <filesystem>

namespace attnscope {

// What tests compile stays here, for all of them (tests/cli/kept_cache.py has the same folder). An entry is named by
// all that it depends on and has a checksum, so no test depends on what ran before it.
inline std::filesystem::path test_cache() { return std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "build/test_cache"; }

}  // namespace attnscope
