#include "catalog/first_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/launch.h"
#include "catalog/manifest_text.h"
#include "catalog/times.h"
#include "catalog/validate.h"
#include "catalog/workload.h"

namespace attnscope::catalog {
namespace {

constexpr int kMostHalvings = 40;

struct Cost {
  size_t bytes = 0;
  int64_t ctas = 0, shared = 0;
  bool too_much() const { return bytes > kMostAtFirst || shared > kMostSharedAtFirst; }
};

// A number that is too large counts as the largest one; a grid is not checked here.
int64_t ctas_of(const model::LaunchShape& shape) {
  int64_t all = 1;
  for (const int64_t side : shape.grid) {
    all = times(all, side);
    if (all == INT64_MAX) return all;
  }
  return all;
}

// The cost at the manifest's sizes, with other values for some; empty if they are not a problem of this kernel.
std::optional<Cost> cost_of(const Kernel& kernel, const std::map<std::string, int64_t>& sizes) {
  Kernel one = kernel;
  one.sizes = sizes;
  const Problem problem = one.default_problem();
  const auto config = complete_config(one, {}, one.options);
  if (!config) return std::nullopt;
  const auto launch = launch_of(one, problem, *config);
  const auto workload = workload_of(one, problem, *config);
  if (!launch) return std::nullopt;
  const int64_t shared = launch->dynamic_shared;
  if (workload) return Cost{workload->bytes(), ctas_of(launch->shape), shared};
  if (workload.error().stage != Stage::input) return std::nullopt;
  return Cost{SIZE_MAX, ctas_of(launch->shape), shared};  // more than any problem may take
}

// True if other sizes bring the cost nearer to what a first run may take.
bool helps(const Cost& lower, const Cost& cost) {
  if (cost.shared > kMostSharedAtFirst) return lower.shared < cost.shared;
  return lower.ctas < cost.ctas && (lower.bytes < cost.bytes || lower.bytes == SIZE_MAX);
}

// A manifest whose buffers exceed any problem's limit does not load, so its largest size is halved until it does.
Result<Kernel> loaded(const Imported& imported, const std::string& source_name, const std::string& source) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  auto kernel = parse_kernel({imported.id + ".json", imported.manifest, source_name, source});
  for (int i = 0; i < kMostHalvings && !kernel && json.is_object() && json["sizes"].is_object(); ++i) {
    nlohmann::ordered_json* largest = nullptr;
    for (auto& size : json["sizes"])
      if (size.is_number_integer() && size > 1 && size.get<int64_t>() % 2 == 0 && (!largest || size > *largest))
        largest = &size;
    if (!largest) break;
    *largest = largest->get<int64_t>() / 2;
    kernel = parse_kernel({imported.id + ".json", manifest_text(json), source_name, source});
  }
  return kernel;
}

}  // namespace

void lower_sizes(Imported& imported, const std::string& source_name, const std::string& source) {
  const auto kernel = loaded(imported, source_name, source);
  if (!kernel) return;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  std::map<std::string, int64_t> sizes(kernel->sizes.begin(), kernel->sizes.end());
  auto cost = cost_of(*kernel, sizes);
  const bool of_shared = cost && cost->shared > kMostSharedAtFirst;
  for (int i = 0; i < kMostHalvings && cost && cost->too_much(); ++i) {
    std::vector<std::pair<int64_t, std::string>> largest;
    for (const auto& [name, value] : sizes)
      if (value > 1 && value % 2 == 0) largest.emplace_back(value, name);
    std::ranges::sort(largest, std::greater<>());
    std::optional<Cost> lower;
    for (const auto& [value, name] : largest) {
      auto halved = sizes;
      halved[name] = value / 2;
      lower = cost_of(*kernel, halved);
      if (lower && helps(*lower, *cost)) {
        sizes = std::move(halved);
        break;
      }
      lower.reset();
    }
    if (!lower) return;
    cost = lower;
  }
  if (!cost || cost->too_much()) return;
  bool changed = false;
  for (const auto& [name, value] : sizes) {
    const int64_t before = json["sizes"][name].get<int64_t>();
    if (value == before) continue;
    json["sizes"][name] = value;
    imported.lowered.emplace(name, before);
    changed = true;
    imported.guessed.push_back(
        fmt::format("{0} = {1} to begin with, so that {2}: --problem {0}={3} sets it back", name, value,
                    of_shared ? fmt::format("a CTA's shared memory takes at most {} KiB", kMostSharedAtFirst >> 10)
                              : fmt::format("the buffers take at most {} MiB", kMostAtFirst >> 20),
                    before));
  }
  if (changed) imported.manifest = manifest_text(json);
}

}  // namespace attnscope::catalog
