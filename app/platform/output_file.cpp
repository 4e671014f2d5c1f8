#include "platform/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/file_write.h"
#include "platform/paths.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

bool is_folder(const fs::path& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_there(const fs::path& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// True if `folder` is in one of the user's folders for attnscope, which the program creates itself with their parents.
bool is_own(const fs::path& folder) {
  const auto own = user_paths();
  if (!own) return false;
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  for (const fs::path& root : {own->config, own->data})
    if (std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end()) return true;
  return false;
}

tl::unexpected<Failure> no_folder(const fs::path& path, const fs::path& folder) {
  return fail(Stage::store, path.string() + ": the folder " + folder.string() + " does not exist.",
              "Make it, or check the path.");
}

Result<WriteTarget> checked_target(const fs::path& path) {
  auto target = write_target(path);
  if (!target || target->open_fd >= 0) return target;
  const fs::path folder = folder_of(target->path);
  if (!target->info && !is_there(folder)) return no_folder(path, folder);
  if (!path.has_filename() || (target->info && S_ISDIR(target->info->st_mode)))
    return fail(Stage::store, path.string() + " is a folder.", "Give a file's path.");
  const fs::path& written = target->info ? target->path : folder;
  if (faccessat(AT_FDCWD, written.c_str(), W_OK, AT_EACCESS) != 0) return store_failure(path, "written", errno);
  return target;
}

// True for errors of a folder that accepts no new file, of a name that is itself a mount, and of a name too long for a
// temporary file beside it.
bool needs_writing_in_place(int error) {
  return error == EACCES || error == EPERM || error == EBUSY || error == ENAMETOOLONG;
}

}  // namespace

Result<void> check_output(const fs::path& path) {
  const auto target = checked_target(path);
  if (!target) return fail(target.error());
  return {};
}

Result<void> write_output(const fs::path& path, std::span<const std::byte> bytes) {
  const auto target = checked_target(path);
  if (!target) return fail(target.error());
  int failed = 0;
  if (target->regular_or_new()) {
    failed = replace_file(*target, bytes, Durability::synced, 0666);
    if (target->info && needs_writing_in_place(failed)) failed = write_into(*target, bytes);
  } else {
    failed = write_into(*target, bytes);
  }
  if (failed == ENXIO && target->info && S_ISFIFO(target->info->st_mode))
    return fail(Stage::store, path.string() + ": no program reads that pipe.",
                "Start the program that reads it first.");
  if (failed != 0) return store_failure(path, "written", failed);
  return {};
}

Result<void> write_output(const fs::path& path, std::string_view text) {
  return write_output(path, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

Result<void> make_output_folder(const fs::path& folder) {
  if (is_folder(folder)) return {};
  if (is_own(folder)) {
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? store_failure(folder, "made", error.value()) : Result<void>();
  }
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();  // "out/" means "out"
  if (!is_there(folder_of(named))) return no_folder(folder, folder_of(named));
  const int failed = mkdir(named.c_str(), 0777) == 0 ? 0 : errno;
  if (failed != 0 && !is_folder(folder)) {
    if (failed == EEXIST) return fail(Stage::store, folder.string() + " is not a folder.", "Give a folder's path.");
    return store_failure(folder, "made", failed);
  }
  return {};
}

}  // namespace attnscope::platform
