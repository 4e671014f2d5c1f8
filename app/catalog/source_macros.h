#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/conditional_text.h"
#include "catalog/cuda_source.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// Reads a source's preprocessor lines, in their order: what it includes and defines goes to a CudaSource.
class SourceMacros {
 public:
  explicit SourceMacros(CudaSource& out) : out_(out) {}

  struct Launching {
    std::string_view name, text;  // of the line
  };
  // A line without its #; behind_code: other text stands between it and the line before. Returns the macro that it
  // defines if that contains a launch.
  std::optional<Launching> read(std::string_view line, bool behind_code);

  // The macros that the open #ifdefs need.
  std::vector<std::string> needed() const;
  // The name that the last #ifndef asks for.
  const std::string& guarded() const { return guarded_; }

 private:
  struct Open {
    std::string needs;                         // the macro without which its text is left out, or empty
    std::string guarded;                       // the macro that it must not find, or empty
    bool has_code = false, has_ended = false;  // text besides preprocessor lines, up to its #else; past that
    size_t value = SIZE_MAX;                   // index into settable of what it gives that macro; SIZE_MAX: nothing
  };
  void track_conditions(const std::vector<CppToken>& line);
  void close();
  void define(const std::vector<CppToken>& line);
  void add(const std::string& name, const std::string& value, bool compiled);

  CudaSource& out_;
  std::string guarded_;
  OpenConditions compiled_;  // of the lines so far, with what they define and what nvcc defines
  std::map<std::string, std::string> defined_{
      {"__CUDACC__", "1"}, {"__NVCC__", "1"}, {"__cplusplus", "202002"}, {"__linux__", "1"}, {"__GNUC__", "12"}};
  std::set<std::string> redefined_;
  std::vector<Open> conditions_;  // the open #ifs
};

}  // namespace attnscope::catalog
