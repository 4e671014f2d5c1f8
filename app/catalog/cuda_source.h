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
  bool constant = false;  // of a pointer: what it points to
};

struct TemplateParameter {
  std::string name;      // "T", "N"
  std::string kind;      // "typename", "class", "const int", … as written
  std::string standard;  // the default; empty: none
};

struct SourceKernel {
  std::string name;  // with its namespaces: "lib::scale"
  std::vector<TemplateParameter> template_parameters;
  std::vector<SourceParameter> parameters;
  std::string launch_bounds;  // threads, as written; empty: none
  bool defined = false;       // its body is in this file
};

// `k<float, 4><<<grid, block, shared>>>` of the host code, as written; of macros too.
struct SourceLaunch {
  std::string kernel, template_arguments, grid, block, shared;
  size_t at = SIZE_MAX;  // bytes from the source's start; of a macro's launch none
};

// What a name of host code stands for: it may have a value in every function. The nearest before its use counts, and
// where none is before it the last.
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

// What a .cu file says about itself, as far as tokens tell.
struct CudaSource {
  std::vector<SourceKernel> kernels;
  std::vector<SourceLaunch> launches;
  std::map<std::string, std::string> macros;                    // #define X v of one word or expression
  std::vector<std::pair<std::string, int64_t>> settable;        // #ifndef X / #define X v of a whole number, in order
  SourceValues<std::string> constants;                          // name = expression
  SourceValues<std::vector<std::string>> dims;                  // dim3 name(x, y, z)
  std::map<std::string, std::string> types;                     // typedef and using
  std::map<std::string, std::vector<SourceParameter>> structs;  // plain ones, with their members
  std::set<std::string> parameter_names;                        // of templates and macros: they mean nothing outside
};

CudaSource read_cuda_source(const std::string& source);

}  // namespace attnscope::catalog
