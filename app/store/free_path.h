#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace attnscope::store {

// "Tiled, eight warps" → "tiled-eight-warps": letters, digits and dashes, so that every title makes a valid file name,
// of at most `longest` bytes. `otherwise`, where that leaves nothing.
std::string file_name_of(const std::string& title, const std::string& otherwise, size_t longest = SIZE_MAX);

// "NAME.json" in that folder, or "NAME-2.json" and so on: the first that does not exist.
std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& name);

}  // namespace attnscope::store
