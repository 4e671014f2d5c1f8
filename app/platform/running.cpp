#include "platform/running.h"

#include <filesystem>
#include <fstream>
#include <set>

namespace attnscope::platform {

std::vector<std::string> running(std::span<const std::string_view> names) {
  namespace fs = std::filesystem;
  std::set<std::string> there;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string process = at->path().filename();
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(at->path() / "comm");
    std::string name;
    if (std::getline(file, name)) there.insert(name);
  }
  constexpr size_t kept = 15;
  std::vector<std::string> found;
  for (const std::string_view name : names)
    if (there.contains(std::string(name.substr(0, kept)))) found.emplace_back(name);
  return found;
}

}  // namespace attnscope::platform
