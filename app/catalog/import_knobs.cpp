#include "catalog/import_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostKnobs = 64;  // a manifest accepts no more

bool is_knob_name(const std::string& name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' &&
         std::ranges::all_of(name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

nlohmann::ordered_json import_knobs(const CudaSource& source, const std::vector<const SourceKernel*>& kernels,
                                    HostScope& scope, Imported& imported) {
  OrderedJson knobs = OrderedJson::array();
  for (const auto& [name, value] : source.settable) {
    if (!is_knob_name(name) || value < 0) continue;
    if (knobs.size() == kMostKnobs) {
      imported.guessed.push_back(
          fmt::format("the knobs: the first {} macros that may be set; a manifest takes no more", kMostKnobs));
      break;
    }
    std::vector<int64_t> values{value};
    const bool power = value > 1 && (value & (value - 1)) == 0;
    if (value <= 1) values = {0, 1};
    if (power) values = {value / 2, value, value * 2};
    OrderedJson knob{{"name", name}, {"values", values}, {"default", value}, {"doc", ""}};
    knobs.push_back(std::move(knob));
    scope.kept[name] = value;
    imported.read.push_back(
        fmt::format("{} = {} may be set from outside: a knob with {} values", name, value, values.size()));
  }
  const bool any = !knobs.empty();
  for (const SourceKernel* kernel : kernels)
    for (const std::string& name : kernel->needs) {
      if (source.macros.contains(name) || scope.kept.contains(name) || !is_knob_name(name)) continue;
      knobs.push_back(OrderedJson{{"name", name}, {"values", {1}}, {"default", 1}, {"doc", ""}});
      scope.kept[name] = 1;
      imported.guessed.push_back(fmt::format("{} is defined as 1: the kernel is within #ifdef {}", name, name));
    }
  if (any) imported.guessed.emplace_back("the knobs' other values: keep those that the kernel takes");
  return knobs;
}

}  // namespace attnscope::catalog
