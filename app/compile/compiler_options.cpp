#include <algorithm>
#include <map>
#include <set>

#include "compile/compiler.h"
#include "compile/own_names.h"
#include "core/cpp_tokens.h"
#include "core/options.h"

namespace attnscope::compile {
namespace {

constexpr size_t kMaxMacroName = 64;

// Deliberately narrow: anything that is not plainly a macro's name is refused before a compiler sees it.
bool is_macro_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= kMaxMacroName && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

struct ElementType {
  int code;          // DTYPE
  const char* name;  // ATTN_T
};

ElementType element_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {0, "half"};
    case DType::bf16:
      return {1, "__nv_bfloat16"};
    case DType::f32:
      return {2, "float"};
  }
  return {0, "half"};
}

Failure fixed_name(const CompileRequest& request, const std::string& name, int64_t value, const OwnName& own) {
  return {Stage::input,
          request.file_name + ":" + std::to_string(own.line) + ": the source fixes " + name + " to " +
              std::to_string(*own.value) + ", and this run asks for " + std::to_string(value),
          "Put #ifndef " + name +
              " and #endif around its line, so that the macro takes its place; or let the manifest "
              "allow only that value (supports.head_dim, supports.causal, or the knob's values)."};
}

Result<void> check_target(const CompileRequest& request) {
  if (request.arch < 75 || request.arch > 129)
    return fail(Stage::input, "The architecture sm_" + std::to_string(request.arch) + " is not supported.",
                "Use 80, 89 or 90.");
  return check_options(request.options);
}

// Adds -D for the request's macros and what follows from its dtype.
Result<void> add_macros(const CompileRequest& request, std::vector<std::string>& options) {
  std::set<std::string> names;
  for (const auto& [name, value] : request.macros) names.insert(name);
  const std::map<std::string, OwnName> own = own_names(request.source, names);
  for (const auto& [name, value] : request.macros) {
    if (const auto declared = own.find(name); declared != own.end()) {
      if (declared->second.value && *declared->second.value != value)
        return fail(fixed_name(request, name, value, declared->second));
      // A template's parameter may have the problem's name, and a constant with this value needs no macro.
      if (declared->second.value || name == "HEAD_DIM" || name == "CAUSAL") continue;
    }
    if (!is_macro_name(name))
      return fail(Stage::input, "\"" + name.substr(0, kMaxMacroName) + "\" is not a macro's name.",
                  "A knob's name has capital letters, digits and underscores, and no digit first.");
    if (request.dtype && (name == "DTYPE" || name == "ATTN_T"))
      return fail(Stage::input, "The macro " + name + " follows from the problem's dtype.", "Rename the knob.");
    options.push_back("-D" + name + "=" + std::to_string(value));
  }
  if (!request.dtype) return {};
  const ElementType type = element_type(*request.dtype);
  options.push_back("-DDTYPE=" + std::to_string(type.code));
  options.push_back(std::string("-DATTN_T=") + type.name);
  return {};
}

}  // namespace

const char* cpp_standard(std::string_view source) {
  const std::vector<CppToken> tokens = cpp_tokens(source);
  for (size_t i = 1; i + 2 < tokens.size(); ++i) {
    const bool concept_of = tokens[i].is("concept") && tokens[i + 2].is("=");
    const bool requirement = tokens[i].is("requires") && (tokens[i - 1].is(">") || tokens[i - 1].is(")"));
    if (concept_of || requirement) return "c++20";
  }
  return "c++17";
}

Result<std::vector<std::string>> nvrtc_options(const CompileRequest& request) {
  if (auto valid = check_target(request); !valid) return fail(valid.error());
  std::vector<std::string> options = {
      "--gpu-architecture=sm_" + std::to_string(request.arch),
      std::string("--std=") + cpp_standard(request.source),
      "-lineinfo",
      "--ptxas-options=-v",
      "--device-as-default-execution-space",  // constexpr functions, members and constants without an annotation
  };
  if (request.options.fast_math) options.push_back("--use_fast_math");
  options.push_back(request.options.fmad ? "--fmad=true" : "--fmad=false");
  if (const int limit = request.options.maxrregcount; limit != 0)
    options.push_back("--maxrregcount=" + std::to_string(limit));
  if (auto added = add_macros(request, options); !added) return fail(added.error());
  return options;
}

std::vector<std::string> nvcc_flags(int arch, std::string_view source, const CompileOptions& options) {
  std::vector<std::string> flags = {
      "-arch=sm_" + std::to_string(arch),
      std::string("-std=") + cpp_standard(source),
      "-lineinfo",
      "--expt-relaxed-constexpr",  // constexpr functions without an annotation, as NVRTC takes them
      options.fmad ? "-fmad=true" : "-fmad=false",
  };
  if (options.fast_math) flags.push_back("-use_fast_math");
  if (options.maxrregcount != 0) flags.push_back("-maxrregcount=" + std::to_string(options.maxrregcount));
  return flags;
}

Result<std::vector<std::string>> nvcc_options(const CompileRequest& request) {
  if (auto valid = check_target(request); !valid) return fail(valid.error());
  std::vector<std::string> options = nvcc_flags(request.arch, request.source, request.options);
  options.push_back("-Xptxas=-v");
  if (auto added = add_macros(request, options); !added) return fail(added.error());
  return options;
}

}  // namespace attnscope::compile
