#include "catalog/definitions.h"

#include "catalog/host_source.h"
#include "platform/atomic_file.h"

namespace attnscope::catalog {

std::optional<std::filesystem::path> file_that_defines(const std::string& name, Project& project,
                                                       const std::set<std::filesystem::path>& without) {
  constexpr size_t kMostLookedAt = 300, kMostOfOne = size_t{1} << 20;  // files, and bytes of one
  size_t looked_at = 0;
  for (const std::filesystem::path& file : project.files()) {
    if (file.extension() != ".cu" || without.contains(file)) continue;
    if (++looked_at > kMostLookedAt) break;
    const auto text = platform::read_file(file, kMostOfOne);
    if (!text || text->find(name) == std::string::npos) continue;
    if (HostSource(*text).function_named(name)) return file;
  }
  return std::nullopt;
}

}  // namespace attnscope::catalog
