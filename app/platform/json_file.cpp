#include "platform/json_file.h"

#include <algorithm>

#include "platform/atomic_file.h"

namespace attnscope::platform {

Result<Json> read_json(const std::filesystem::path& file, uint64_t max_bytes, Stage stage) {
  const auto text = read_file(file, max_bytes);
  if (!text) return fail(stage, text.error().message, text.error().hint);
  return parse_json(*text, file.string(), stage);
}

std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator at(folder, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

}  // namespace attnscope::platform
