#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::catalog {

// The files of the git repository that a file is in: sources and headers below the nearest folder above it with a .git,
// the nearest first. Links are not followed, hidden folders are left out, and the walk ends after a bounded number of
// files. Without a repository there are none. Only names are read here.
class Project {
 public:
  explicit Project(const std::filesystem::path& file);

  // Empty: the file is in no repository.
  const std::filesystem::path& root() const { return root_; }
  const std::vector<std::filesystem::path>& files();

  struct Header {
    std::filesystem::path file;
    size_t others = 0;  // files that the same #include could mean
  };
  // The nearest file whose path ends with `name`, whose leading ../ do not count.
  std::optional<Header> header(const std::string& name);

 private:
  void walk(const std::filesystem::path& folder, const std::filesystem::path& walked);

  std::filesystem::path root_, home_;
  std::vector<std::filesystem::path> files_;
  size_t entries_ = 0;  // looked at
  bool walked_ = false;
};

}  // namespace attnscope::catalog
