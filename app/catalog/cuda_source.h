#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

struct SourceParameter {
  std::string type;  // without const, *, & and __restrict__: "float"
  std::string name;
  bool pointer = false;
  bool constant = false;  // of a pointer: what it points to
};

struct SourceKernel {
  std::string name;                         // with its namespaces: "lib::scale"
  std::vector<std::string> template_names;  // "T", "N": in order
  std::vector<SourceParameter> parameters;
  std::string launch_bounds;  // threads, as written; empty: none
};

// `k<float, 4><<<grid, block, shared>>>` of the host code, as written.
struct SourceLaunch {
  std::string kernel, template_arguments, grid, block, shared;
};

// What a .cu file says about itself, as far as tokens tell.
struct CudaSource {
  std::vector<SourceKernel> kernels;
  std::vector<SourceLaunch> launches;
  std::map<std::string, std::string> macros;                    // #define X v of one word or expression
  std::vector<std::pair<std::string, int64_t>> settable;        // #ifndef X / #define X v of a whole number, in order
  std::map<std::string, std::string> constants;                 // name = expression; of the whole file, the last one
  std::map<std::string, std::vector<std::string>> dims;         // dim3 name(x, y, z)
  std::map<std::string, std::string> types;                     // typedef and using
  std::map<std::string, std::vector<SourceParameter>> structs;  // plain ones, with their members
};

CudaSource read_cuda_source(const std::string& source);

}  // namespace attnscope::catalog
