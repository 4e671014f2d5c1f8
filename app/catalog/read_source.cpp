#include "catalog/read_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "catalog/argument_branches.h"
#include "catalog/conditional_text.h"
#include "catalog/launch_functions.h"
#include "catalog/source_members.h"

namespace attnscope::catalog {
namespace {

constexpr int kMostAliases = 8;  // of aliases

// `using Row = float*; void k(Row x)`: x is a pointer to float.
void follow_pointer_alias(const CudaSource& source, SourceParameter& parameter) {
  std::string type = parameter.type;
  for (int depth = 0; depth < kMostAliases && !parameter.pointer; ++depth) {
    const auto alias = source.types.find(type);
    if (alias == source.types.end() || source.unsure_types.contains(type)) return;
    const std::vector<CppToken> tokens = cpp_tokens(alias->second);
    const SourceParameter said = parameter_of(tokens, CppBrackets(tokens), 0, tokens.size());
    // A word behind the type is taken for the parameter's name, and an alias has none.
    type = said.name.empty() ? said.type : said.type + " " + said.name;
    if (!said.pointer) continue;
    parameter.type = type;
    parameter.pointer = true;
    parameter.constant = said.constant;
  }
}

CudaSource cuda_source(const std::string& source) {
  CudaSource read = read_cuda_source(source);
  for (SourceKernel& kernel : read.kernels) {
    const auto is_its_own = [&](const std::string& type) {
      return std::ranges::find(kernel.template_parameters, type, &TemplateParameter::name) !=
             kernel.template_parameters.end();
    };
    for (SourceParameter& parameter : kernel.parameters)
      if (!parameter.pointer && !is_its_own(parameter.type)) follow_pointer_alias(read, parameter);
  }
  return read;
}

}  // namespace

ReadSource read_source(const std::string& whole, const std::string& launcher) {
  const std::string source = without_arguments(without_excluded(whole));
  if (launcher.empty()) {
    ReadSource read{source, cuda_source(source), HostSource(source)};
    follow_launches(read.cuda, read.host, read.text);
    return read;
  }
  const std::string both = source + "\n" + without_arguments(without_excluded(launcher));
  ReadSource read{both, cuda_source(both), HostSource(both), source.size()};
  std::erase_if(read.cuda.kernels, [&](const SourceKernel& one) { return one.defined && one.body >= source.size(); });
  read.cuda.defined.clear();
  for (size_t i = 0; i < read.cuda.kernels.size(); ++i)
    if (read.cuda.kernels[i].defined) read.cuda.defined.emplace(plain_kernel_name(read.cuda.kernels[i].name), i);
  CudaSource own = read_cuda_source(source);
  read.cuda.settable = std::move(own.settable);
  read.cuda.included = std::move(own.included);  // the kernel need not have what the host code includes
  follow_launches(read.cuda, read.host, read.text);
  return read;
}

bool includes_cutlass(const CudaSource& source) {
  return std::ranges::any_of(source.included, [](const std::string& name) {
    return name.starts_with("cute/") || name.starts_with("cutlass/");
  });
}

PointerUses uses_of(const ReadSource& source, const SourceKernel& kernel) {
  std::vector<std::string> pointers;
  for (const SourceParameter& parameter : kernel.parameters)
    if (parameter.pointer && !parameter.handed_on) pointers.push_back(parameter.name);
  auto uses = pointer_uses(std::string_view(source.text).substr(kernel.body, kernel.end - kernel.body), pointers);
  // A kernel has an output; if none is visible, a macro hides it.
  const bool handed_on = std::ranges::any_of(kernel.parameters, &SourceParameter::handed_on);
  if (!handed_on &&
      std::ranges::none_of(uses, [](const auto& one) { return one.second.stored || one.second.passed_on; }))
    uses.clear();
  return uses;
}

PointerUse use_of(const PointerUses& uses, const SourceParameter& parameter) {
  if (parameter.constant) return {true, false, false};
  const auto use = uses.find(parameter.name);
  return use == uses.end() ? PointerUse{false, false, true} : use->second;
}

}  // namespace attnscope::catalog
