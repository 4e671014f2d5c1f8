#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope::catalog {

// Which file each line of a source is of, as its #line directives say. Without any, all of them are of one file, which
// has no name here.
class SourceFiles {
 public:
  explicit SourceFiles(std::string_view text);

  // The file of the line that byte `at` is in.
  std::string_view file_at(size_t at) const;
  // The file that the source begins with.
  std::string_view first() const { return begins_.empty() ? std::string_view() : begins_.front().second; }

 private:
  std::vector<std::pair<size_t, std::string>> begins_;  // ascending
};

}  // namespace attnscope::catalog
