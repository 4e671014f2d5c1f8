#include "platform/file_stamp.h"

#include <sys/stat.h>
#include <time.h>

#include <cerrno>

namespace attnscope::platform {
namespace {

constexpr int64_t kRecent = 1'000'000'000;  // ns; network file systems may count in whole seconds

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

std::optional<FileStamp> stamp_of(const std::filesystem::path& path, mode_t kind) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || (found.st_mode & S_IFMT) != kind) return std::nullopt;
  return FileStamp{found.st_dev, found.st_ino, static_cast<uint64_t>(found.st_size), nanoseconds(found.st_mtim),
                   nanoseconds(found.st_ctim)};
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) { return stamp_of(path, S_IFREG); }
std::optional<FileStamp> folder_stamp_of(const std::filesystem::path& path) { return stamp_of(path, S_IFDIR); }

bool name_exists(const std::filesystem::path& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 || errno != ENOENT;
}

bool is_recent(const FileStamp& stamp) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t age = nanoseconds(now) - stamp.changed_ns;
  return age < kRecent;  // includes times in the future, after a clock was set back
}

}  // namespace attnscope::platform
