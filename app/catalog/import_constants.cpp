#include "catalog/import_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "catalog/element_types.h"
#include "catalog/unset_constants.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The variable's elements as a manifest's shape; empty if an extent is unknown.
std::vector<std::string> shape_of(const UnsetConstant& constant, const HostScope& scope, int64_t lanes) {
  std::vector<std::string> shape;
  for (const std::string& extent : constant.extents) {
    shape.push_back(scope.in_terms(extent));
    if (shape.back().empty() || shape.back() == "0") return {};
  }
  if (lanes > 1 || shape.empty()) shape.push_back(std::to_string(lanes));
  return shape;
}

}  // namespace

void import_constants(const ReadSource& source, const HostScope& scope, OrderedJson& buffers, Imported& imported) {
  for (const UnsetConstant& constant : unset_constants(source.own_text())) {
    const bool set = source.host.calls_with("cudaMemcpyToSymbol", constant.name) ||
                     source.host.calls_with("cudaMemcpyToSymbolAsync", constant.name);
    const auto element = element_of(scope.resolved_type(constant.type));
    const auto shape = set && element ? shape_of(constant, scope, element->lanes) : std::vector<std::string>();
    if (shape.empty()) {
      imported.guessed.push_back(
          fmt::format("the __constant__ variable {0}{1}: a buffer with \"symbol\": \"{0}\" "
                      "gives it what the host code would",
                      constant.name, kHoldsZeros));
      continue;
    }
    std::string name = constant.name;
    while (scope.kept.contains(name) ||
           std::ranges::any_of(buffers, [&](const OrderedJson& one) { return one["name"] == name; }))
      name += "_";
    // A number that may be an index must not point anywhere.
    const char* const init = is_floating(element->type) ? "random" : "zeros";
    buffers.push_back(OrderedJson{{"name", name},
                                  {"role", word_of(BufferRole::in)},
                                  {"dtype", word_of(element->type)},
                                  {"shape", shape},
                                  {"init", init},
                                  {"symbol", constant.name}});
    imported.guessed.push_back(
        fmt::format("the __constant__ variable {} holds what the host code copies to it: {} here", constant.name,
                    is_floating(element->type) ? "random numbers" : "zeros"));
  }
}

}  // namespace attnscope::catalog
