#include "platform/file_stamp.h"

#include <sys/stat.h>
#include <time.h>

namespace attnscope::platform {
namespace {

constexpr int64_t kRecent = 1'000'000'000;  // ns; network file systems count in seconds

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return FileStamp{found.st_dev, found.st_ino, static_cast<uint64_t>(found.st_size), nanoseconds(found.st_mtim),
                   nanoseconds(found.st_ctim)};
}

bool is_recent(const FileStamp& stamp) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t age = nanoseconds(now) - stamp.changed_ns;
  return age < kRecent;  // a change in the future, by a clock that was set back, too
}

}  // namespace attnscope::platform
