#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace attnscope::store {

// "Tiled, eight warps" → "tiled-eight-warps". Keeps letters, digits and dashes, so that every title makes a valid file
// name of at most `longest` bytes. Returns `otherwise` if nothing is left.
std::string file_name_of(const std::string& title, const std::string& otherwise, size_t longest = SIZE_MAX);

// The first of "NAME.json", "NAME-2.json" and so on that does not exist in that folder.
std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& name);

}  // namespace attnscope::store
