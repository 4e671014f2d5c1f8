#include "platform/aged_files.h"

#include <algorithm>

namespace attnscope::platform {

namespace fs = std::filesystem;

std::vector<AgedFile> files_by_age(const fs::path& folder) {
  std::vector<AgedFile> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    AgedFile file{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (!gone) files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &AgedFile::used);
  return files;
}

void remove_oldest(const std::vector<AgedFile>& files, uint64_t cap_bytes) {
  uint64_t total = 0;
  for (const AgedFile& file : files) total += file.bytes;
  for (const AgedFile& file : files) {
    if (total <= cap_bytes) return;
    std::error_code gone;
    fs::remove(file.path, gone);
    total -= file.bytes;
  }
}

}  // namespace attnscope::platform
