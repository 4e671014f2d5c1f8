#pragma once
#include <filesystem>
#include <string>

namespace attnscope::store {

// "NAME.json" in that folder, or "NAME-2.json" and so on: the first that does not exist.
inline std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::path path = folder / (name + ".json");
  for (int copy = 2; std::filesystem::exists(path, error); ++copy)
    path = folder / (name + "-" + std::to_string(copy) + ".json");
  return path;
}

}  // namespace attnscope::store
