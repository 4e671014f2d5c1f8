#include "platform/gpus.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace attnscope::platform {

size_t listed_gpus(const std::filesystem::path& list) {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(list, error), end; !error && at != end; at.increment(error)) ++count;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return count;
  const std::string_view names = visible;
  const auto named = names.empty() ? 0 : static_cast<size_t>(std::ranges::count(names, ',')) + 1;
  return std::min(count, named);
}

}  // namespace attnscope::platform
