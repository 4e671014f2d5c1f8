#include "platform/move_aside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attnscope::platform {
namespace {

constexpr int kMostNames = 100000;

bool is_there(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// A rename that never overwrites. Returns 0 or errno.
int rename_to_free_name(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // For file systems without that call. A link never overwrites either.
  if (link(from.c_str(), to.c_str()) == 0) return unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return errno;
  if (is_there(to)) return EEXIST;  // without links too, this is the best that is possible
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<std::filesystem::path> move_aside(const std::filesystem::path& path,
                                         const std::vector<std::string>& companions) {
  int error = EEXIST;
  for (int n = 1; n <= kMostNames && error == EEXIST; ++n) {
    const std::string aside = path.string() + ".damaged-" + std::to_string(n);
    if (std::any_of(companions.begin(), companions.end(), [&](const auto& end) { return is_there(aside + end); }))
      continue;
    error = rename_to_free_name(path.string(), aside);
    if (error != 0) continue;
    for (const std::string& end : companions) (void)rename_to_free_name(path.string() + end, aside + end);
    return aside;
  }
  return fail(Stage::store, path.string() + " is damaged and could not be moved aside: " + std::strerror(error) + ".",
              "Check the folder's rights, or move the file away.");
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

bool may_write_in(const std::filesystem::path& folder) { return access(folder.c_str(), W_OK | X_OK) == 0; }

}  // namespace attnscope::platform
