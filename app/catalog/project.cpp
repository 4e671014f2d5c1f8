#include "catalog/project.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAbove = 12;          // folders between the file and its repository's root
constexpr size_t kMostEntries = 50000;  // files and folders that are looked at
constexpr size_t kMostFiles = 20000;    // sources and headers that are kept

bool is_source(const fs::path& file) {
  static constexpr std::array<std::string_view, 12> endings{".cu",  ".cuh", ".h",   ".hpp", ".hxx", ".hh",
                                                            ".inl", ".inc", ".cpp", ".cc",  ".c",   ".cxx"};
  return std::ranges::find(endings, file.extension().string()) != endings.end();
}

// The components of a header's name without "." and its leading "..".
std::vector<fs::path> tail_of(const std::string& name) {
  std::vector<fs::path> parts;
  for (const fs::path& part : fs::path(name).lexically_normal())
    if (part != "..") parts.push_back(part);
  return parts;
}

bool ends_with(const fs::path& file, const std::vector<fs::path>& tail) {
  const auto length = static_cast<size_t>(std::distance(file.begin(), file.end()));
  return !tail.empty() && length > tail.size() &&
         std::equal(tail.begin(), tail.end(), std::next(file.begin(), static_cast<ptrdiff_t>(length - tail.size())));
}

}  // namespace

Project::Project(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, error), error);
  if (error) return;
  home_ = whole.parent_path();
  fs::path folder = home_;
  for (int i = 0; i < kMostAbove && folder.has_relative_path(); ++i, folder = folder.parent_path()) {
    if (!fs::exists(folder / ".git", error)) continue;
    root_ = folder;
    return;
  }
}

const std::vector<fs::path>& Project::files() {
  if (std::exchange(walked_, true) || root_.empty()) return files_;
  fs::path walked;
  for (fs::path folder = home_;; folder = folder.parent_path()) {
    walk(folder, walked);
    if (folder == root_ || entries_ >= kMostEntries) break;
    walked = folder;
  }
  return files_;
}

// The files below `folder` but not below `walked`, those in fewer folders first.
void Project::walk(const fs::path& folder, const fs::path& walked) {
  std::vector<fs::path> level{folder};
  while (!level.empty()) {
    std::vector<fs::path> next, found;
    for (const fs::path& one : level) {
      std::error_code error;
      fs::directory_iterator entries(one, error);
      for (; !error && entries != fs::directory_iterator() && entries_ < kMostEntries; entries.increment(error)) {
        ++entries_;
        std::error_code unreadable;
        const fs::file_status status = entries->symlink_status(unreadable);
        const fs::path& path = entries->path();
        if (unreadable || path.filename().string().starts_with('.')) continue;
        if (status.type() == fs::file_type::directory && path != walked) next.push_back(path);
        if (status.type() == fs::file_type::regular && is_source(path)) found.push_back(path);
      }
    }
    std::ranges::sort(found);
    std::ranges::sort(next);
    for (fs::path& one : found)
      if (files_.size() < kMostFiles) files_.push_back(std::move(one));
    level = std::move(next);
  }
}

std::optional<Project::Header> Project::header(const std::string& name) {
  const std::vector<fs::path> tail = tail_of(name);
  std::optional<Header> header;
  for (const fs::path& file : files()) {
    if (file.filename() != fs::path(name).filename() || !ends_with(file, tail)) continue;
    if (header)
      ++header->others;
    else
      header = Header{file};
  }
  return header;
}

}  // namespace attnscope::catalog
