#include "store/free_path.h"

#include <cctype>

namespace attnscope::store {

std::string file_name_of(const std::string& title, const std::string& otherwise, size_t longest) {
  std::string name;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == longest) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? otherwise : name;
}

std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::path path = folder / (name + ".json");
  for (int copy = 2; std::filesystem::exists(path, error); ++copy)
    path = folder / (name + "-" + std::to_string(copy) + ".json");
  return path;
}

}  // namespace attnscope::store
