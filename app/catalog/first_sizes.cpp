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
#include "catalog/validate.h"
#include "catalog/workload.h"

namespace attnscope::catalog {
namespace {

constexpr int kMostHalvings = 40;

struct Cost {
  size_t bytes = 0;
  int64_t ctas = 0;
};

// More than a number holds counts as the largest: a grid is not checked here.
int64_t ctas_of(const model::LaunchShape& shape) {
  int64_t all = 1;
  for (const int64_t side : shape.grid)
    if (__builtin_mul_overflow(all, side, &all)) return INT64_MAX;
  return all;
}

// At the manifest's sizes, with other values for some; empty: they are no problem of this kernel.
std::optional<Cost> cost_of(const Kernel& kernel, const std::map<std::string, int64_t>& sizes) {
  Kernel one = kernel;
  one.sizes = sizes;
  const Problem problem = one.default_problem();
  const auto config = complete_config(one, {}, one.options);
  if (!config) return std::nullopt;
  const auto launch = launch_of(one, problem, *config);
  const auto workload = workload_of(one, problem, *config);
  if (!launch) return std::nullopt;
  if (workload) return Cost{workload->bytes(), ctas_of(launch->shape)};
  if (workload.error().stage != Stage::input) return std::nullopt;
  return Cost{SIZE_MAX, ctas_of(launch->shape)};  // more than any problem may take
}

}  // namespace

void lower_sizes(Imported& imported, const std::string& source_name, const std::string& source) {
  const auto kernel = parse_kernel({imported.id + ".json", imported.manifest, source_name, source});
  if (!kernel) return;
  std::map<std::string, int64_t> sizes(kernel->sizes.begin(), kernel->sizes.end());
  auto cost = cost_of(*kernel, sizes);
  for (int i = 0; i < kMostHalvings && cost && cost->bytes > kMostAtFirst; ++i) {
    std::vector<std::pair<int64_t, std::string>> largest;
    for (const auto& [name, value] : sizes)
      if (value > 1 && value % 2 == 0) largest.emplace_back(value, name);
    std::ranges::sort(largest, std::greater<>());
    std::optional<Cost> lower;
    for (const auto& [value, name] : largest) {
      auto halved = sizes;
      halved[name] = value / 2;
      lower = cost_of(*kernel, halved);
      const bool helps = lower && lower->ctas < cost->ctas && (lower->bytes < cost->bytes || lower->bytes == SIZE_MAX);
      if (helps) {
        sizes = std::move(halved);
        break;
      }
      lower.reset();
    }
    if (!lower) return;
    cost = lower;
  }
  if (!cost || cost->bytes > kMostAtFirst) return;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(imported.manifest, nullptr, false);
  bool changed = false;
  for (const auto& [name, value] : sizes) {
    const int64_t before = kernel->sizes.at(name);
    if (value == before) continue;
    json["sizes"][name] = value;
    changed = true;
    imported.guessed.push_back(
        fmt::format("{0} = {1} to begin with, so that the buffers take at most {2} MiB: --problem "
                    "{0}={3} sets it back",
                    name, value, kMostAtFirst >> 20, before));
  }
  if (changed) imported.manifest = manifest_text(json);
}

}  // namespace attnscope::catalog
