#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

struct SourceParameter {
  std::string type;  // without const, *, & and __restrict__: "float"
  std::string name;
  bool pointer = false;
  bool constant = false;  // of a pointer: its target is const
};

struct TemplateParameter {
  std::string name;      // "T", "N"
  std::string kind;      // "typename", "class", "const int", … as written
  std::string standard;  // the default; empty if it has none
};

struct SourceKernel {
  std::string name;  // with its namespaces: "lib::scale"
  std::vector<TemplateParameter> template_parameters;
  std::vector<SourceParameter> parameters;
  std::string launch_bounds;  // threads, as written; empty if it has none
  bool defined = false;       // its body is in this file
};

// `k<float, 4><<<grid, block, shared>>>` in the host code, as written; also in macros.
struct SourceLaunch {
  std::string kernel, template_arguments, grid, block, shared;
  size_t at = SIZE_MAX;  // bytes from the source's start; SIZE_MAX for a launch in a macro
};

// What a name of host code means: it may have a value in every function. The nearest one before its use counts; if
// there is none before it, the last one.
template <class T>
class SourceValues {
 public:
  void add(const std::string& name, size_t at, T value) { all_[name].emplace_back(at, std::move(value)); }
  const T* find(const std::string& name, size_t used_at) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return nullptr;
    const auto behind = std::ranges::lower_bound(found->second, used_at, {}, &std::pair<size_t, T>::first);
    return behind == found->second.begin() ? &found->second.back().second : &std::prev(behind)->second;
  }

 private:
  std::map<std::string, std::vector<std::pair<size_t, T>>> all_;  // ascending
};

// What tokens reveal about a .cu file.
struct CudaSource {
  std::vector<SourceKernel> kernels;
  std::vector<SourceLaunch> launches;
  std::map<std::string, std::string> macros;                    // #define X v of one word or expression
  std::vector<std::pair<std::string, int64_t>> settable;        // #ifndef X / #define X v of an integer, in order
  SourceValues<std::string> constants;                          // name = expression
  SourceValues<std::vector<std::string>> dims;                  // dim3 name(x, y, z)
  std::map<std::string, std::string> types;                     // typedef and using
  std::map<std::string, std::vector<SourceParameter>> structs;  // plain ones, with their members
  std::set<std::string> parameter_names;                        // of templates and macros: meaningless outside
};

CudaSource read_cuda_source(const std::string& source);

}  // namespace attnscope::catalog
