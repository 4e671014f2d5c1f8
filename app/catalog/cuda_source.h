#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::string launch_bounds;       // threads, as written; empty if it has none
  bool defined = false;            // its body is in this file
  size_t body = 0, end = 0;        // of the body: bytes from the source's start
  std::vector<std::string> needs;  // macros of the #ifdefs around it
};

// Whether the code runs if `condition` holds or if it does not.
struct SourceBranch {
  std::string condition;
  bool holds = true;
  size_t at = SIZE_MAX;  // of the condition: bytes from the source's start
};

// `k<float, 4><<<grid, block, shared>>>` in the host code, as written; also in macros.
struct SourceLaunch {
  std::string kernel, template_arguments, grid, block, shared;
  std::vector<std::string> arguments;
  std::vector<SourceBranch> branches;  // around it
  size_t at = SIZE_MAX;                // bytes from the source's start; SIZE_MAX for a launch in a macro
};

// What a name of host code means: it may have a value in every block.
template <class T>
class SourceValues {
 public:
  struct One {
    size_t at = 0, end = 0;  // it is known from `at` to the end of its block; SIZE_MAX: of the file
    T value;
    bool declared = true;  // there, and not given another value
  };
  void add(const std::string& name, One one) { all_[name].push_back(std::move(one)); }
  // The nearest one before its use whose block contains the use; null if there is none.
  const One* find(const std::string& name, size_t used_at) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return nullptr;
    size_t looked_at = 0;
    for (auto one = std::ranges::lower_bound(found->second, used_at, {}, &One::at); one != found->second.begin();) {
      --one;
      if (one->end >= used_at) return &*one;
      if (++looked_at == kMostLookedAt) break;
    }
    return nullptr;
  }
  // The nearest declaration before, in whichever block, or else the last one.
  const One* any(const std::string& name, size_t used_at) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return nullptr;
    const auto behind = std::ranges::lower_bound(found->second, used_at, {}, &One::at);
    const One* const before = last_declared(found->second.begin(), behind);
    return before ? before : last_declared(behind, found->second.end());
  }

 private:
  template <class Iterator>
  static const One* last_declared(Iterator begin, Iterator end) {
    for (size_t looked_at = 0; end != begin && looked_at < kMostLookedAt; ++looked_at)
      if ((--end)->declared) return &*end;
    return nullptr;
  }
  static constexpr size_t kMostLookedAt = 1000;  // so that a million of them cost no more
  std::map<std::string, std::vector<One>> all_;  // ascending
};

// Where names get other values than those that they are declared with.
class SourceChanges {
 public:
  // `end`: of the block in which the new value is known; a position before any use if it is not known at all.
  void add(const std::string& name, size_t at, size_t end) { all_[name].push_back({at, end}); }
  // Whether the value of a name, known since `from`, may be another one at `to`.
  bool any(const std::string& name, size_t from, size_t to) const;

 private:
  struct One {
    size_t at = 0, end = 0;
  };
  std::map<std::string, std::vector<One>> all_;  // ascending
};

// What tokens reveal about a .cu file.
struct CudaSource {
  std::vector<SourceKernel> kernels;
  std::map<std::string, size_t, std::less<>> defined;     // in kernels: the first of each name, without namespaces
  std::vector<SourceLaunch> launches;                     // ascending; those in macros come last
  std::map<std::string, std::string> macros;              // #define X v of one word or expression
  std::vector<std::pair<std::string, int64_t>> settable;  // #ifndef X / #define X v of an integer, in order
  SourceValues<std::string> constants;                    // name = expression
  SourceChanges changes;                                  // of names in a branch, or by += and the like
  SourceValues<std::vector<std::string>> dims;            // dim3 name(x, y, z)
  std::map<std::string, std::string> types;               // typedef and using
  std::map<std::string, std::vector<SourceParameter>> structs;  // plain ones, with their members
  std::set<std::string, std::less<>> launching_macros;          // macros with a launch in them
  std::set<std::string> included;                               // as the includes name them
  std::set<std::string> parameter_names;                        // of templates and macros: meaningless outside
};

CudaSource read_cuda_source(const std::string& source);
bool includes_cutlass(const CudaSource& source);
// "ns::k" is k.
std::string plain_kernel_name(const std::string& name);

}  // namespace attnscope::catalog
