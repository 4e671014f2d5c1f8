#include "catalog/fixed_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/cuda_source.h"

namespace attnscope::catalog {
namespace {

// What the launch passes for a parameter of this name; null if it is none, or a size.
const ArgumentDeclaration* passed_for(const Kernel& kernel, const CudaSource& source, const std::string& name,
                                      size_t& place) {
  const std::string entry = plain_kernel_name(kernel.entry.substr(0, kernel.entry.find('<')));
  const auto found = std::ranges::find_if(
      source.kernels, [&](const SourceKernel& one) { return one.defined && plain_kernel_name(one.name) == entry; });
  if (found == source.kernels.end() || found->parameters.size() != kernel.arguments.size()) return nullptr;
  const auto parameter = std::ranges::find(found->parameters, name, &SourceParameter::name);
  if (parameter == found->parameters.end()) return nullptr;
  place = static_cast<size_t>(parameter - found->parameters.begin());
  const ArgumentDeclaration& passed = kernel.arguments[place];
  return passed.name.empty() && passed.fields.empty() ? &passed : nullptr;
}

}  // namespace

std::optional<Failure> why_no_size(const Kernel& kernel, const std::string& name) {
  if (kernel.find_knob(name))
    return Failure{Stage::input, name + " is a knob of " + kernel.id, fmt::format("Use --set {}=VALUE.", name)};
  if (kernel.source.empty()) return std::nullopt;
  const CudaSource source = read_cuda_source(kernel.source);
  for (const Kernel& launch : kernel.launches()) {
    size_t place = 0;
    const ArgumentDeclaration* const passed = passed_for(launch, source, name, place);
    if (!passed) continue;
    const std::string where = launch.where(fmt::format("args/{}", place));
    if (passed->value.find_first_not_of("0123456789.-") != std::string::npos)
      return Failure{Stage::input, fmt::format("{} follows from the sizes: {} is {}", name, where, passed->value),
                     "Give the sizes in it, or change it there."};
    return Failure{
        Stage::input, fmt::format("{} is fixed: {} passes {} for it", name, where, passed->value),
        "Change it there, with what depends on it: the grid and the buffers' shapes. Or make it a size: add it "
        "to \"sizes\", and name it in their place."};
  }
  const auto* const constant = source.constants.any(name, SIZE_MAX);
  const auto macro = source.macros.find(name);
  if (!constant && macro == source.macros.end()) return std::nullopt;
  if (constant && constant->end != SIZE_MAX)
    return Failure{Stage::input,
                   fmt::format("{} is a name of the host code, which is not run: {} has what import read of it", name,
                               kernel.manifest_name),
                   "Change it there."};
  return Failure{
      Stage::input,
      fmt::format("{} is fixed: {} sets it to {}", name, kernel.source_name,
                  constant ? constant->value : macro->second),
      fmt::format("Change it there. A macro with a default (#ifndef {0} / #define {0} …) can be a knob.", name)};
}

}  // namespace attnscope::catalog
