#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/host_values.h"

namespace attnscope::catalog {

struct SourceParameter {
  std::string type;  // without const, the first *, & and __restrict__: "float", and "float*" for a float**
  std::string name;
  bool pointer = false;
  bool constant = false;  // for a pointer: its target is const
  bool given = false;     // for a member: it has an initialiser
  // Of what stands for a member of a struct that is passed by value:
  std::string member;      // its name in the struct
  bool handed_on = false;  // the kernel uses the struct as a whole too
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
  size_t body = 0, end = 0;        // of the body: byte offsets in the source
  std::vector<size_t> declared;    // for each declaration without a body: byte offset of its parameters' parenthesis
  std::vector<std::string> needs;  // macros of the #ifdefs around it
};

// True if the code runs when `condition` holds, or when it does not.
struct SourceBranch {
  std::string condition;
  bool holds = true;
  size_t at = SIZE_MAX;  // of the condition: byte offset in the source
};

// `k<float, 4><<<grid, block, shared>>>` in the host code, as written; also in macros.
struct SourceLaunch {
  std::string kernel, template_arguments, grid, block, shared;
  std::vector<std::string> arguments;
  std::vector<SourceBranch> branches;  // around it
  size_t at = SIZE_MAX;                // byte offset in the source; SIZE_MAX for a launch in a macro
  bool cooperative = false;            // by cudaLaunchCooperativeKernel
};

// A kernel as a value, `auto k = ns::kernel<float, 4>;`, or an instance of it, `template void kernel<4>(…);`.
struct SourceInstance {
  std::string kernel, template_arguments;  // without namespaces
};

// What tokens reveal about a .cu file.
struct CudaSource : HostValues {
  std::vector<SourceKernel> kernels;
  std::map<std::string, size_t, std::less<>> defined;  // in kernels: the first of each name, without namespaces
  std::vector<SourceInstance> instances;               // that the source asks the compiler for
  SourceValues<SourceInstance> kernel_names;           // auto name = kernel<…>;
  std::vector<SourceLaunch> launches;                  // ascending; those in macros come last
  std::map<std::string, std::string> macros;           // #define X v of one word or expression
  std::set<std::string> unsure_macros;  // of these: several definitions, or only some that are not compiled by default
  std::vector<std::pair<std::string, int64_t>> settable;        // #ifndef X / #define X v of an integer, in order
  std::map<std::string, std::string> types;                     // typedef and using
  std::set<std::string> unsure_types;                           // of these: several definitions, which differ
  std::map<std::string, std::vector<SourceParameter>> structs;  // plain ones, with their members
  std::set<std::string, std::less<>> enums;                     // whose types are in `types`
  std::set<std::string, std::less<>> classes;                   // declared structs, classes, unions and enums
  std::set<std::string, std::less<>> launching_macros;          // macros that contain a launch
  std::set<std::string> included;                               // as the includes name them
  std::set<std::string> parameter_names;                        // of templates and macros: meaningless elsewhere

  // Of several definitions the last counts.
  void add_type(const std::string& name, std::string type) {
    const auto [found, fresh] = types.try_emplace(name, type);
    if (!fresh && found->second != type) unsure_types.insert(name);
    found->second = std::move(type);
  }
};

CudaSource read_cuda_source(const std::string& source);
// "ns::k" gives k.
std::string plain_kernel_name(const std::string& name);
// "(void*)ns::k<float, 4>" and "&k"; its kernel is empty if there is more than a name.
SourceInstance instance_of(const std::string& text);

}  // namespace attnscope::catalog
