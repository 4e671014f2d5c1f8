#include "sweep/micro.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "catalog/catalog.h"
#include "catalog/clocked_fragment.h"
#include "catalog/validate.h"
#include "core/headline.h"
#include "sweep/run.h"

namespace attnscope::sweep {
namespace {

// Timing a fragment by the host says little about it, so it takes little time.
constexpr int64_t kTimedForMs = 50;

bool stands_for(const Kernel& micro, const std::string& kernel) {
  return std::ranges::count(micro.fragment->stands, kernel, &ClockedFragment::StandsFor::kernel) > 0;
}

// The fragments are for f16 only.
Result<bool> fits_problem(const Kernel& micro, const Config& config, const Problem& attention) {
  if (attention.dtype != DType::f16) return false;
  return catalog::fragment_fits(micro, config, attention);
}

// True if the two have the same value for every knob that both have.
bool agree(const Config& one, const Config& other) {
  return std::ranges::all_of(one.knobs, [&](const auto& knob) {
    const auto found = other.knobs.find(knob.first);
    return found == other.knobs.end() || found->second == knob.second;
  });
}

}  // namespace

std::filesystem::path micro_folder(const std::filesystem::path& resources) { return resources / "assets" / "micro"; }

Result<std::vector<Kernel>> micro_kernels(const std::filesystem::path& resources) {
  catalog::Catalog found = catalog::load_catalog({micro_folder(resources)});
  if (!found.failures.empty()) return fail(found.failures.front());
  std::erase_if(found.kernels, [](const Kernel& kernel) { return !kernel.fragment; });
  return std::move(found.kernels);
}

Result<MicroSearch> micro_search(const Kernel& micro, const Config& held, const std::vector<std::string>& fixed,
                                 const Problem& attention, const DeviceSpec& device) {
  MicroSearch made;
  Plan& plan = made.plan;
  plan.kernel = micro;
  plan.held.problem = micro.default_problem();
  plan.held.kernel = micro.id;
  plan.held.kernel_hash = micro.content_hash;
  plan.held.config = held;
  plan.held.device = device.id;
  if (!device.emulated) plan.held.measure.max_time_ms = kTimedForMs;
  auto space = search::whole_space(micro, held, fixed);
  if (!space) return fail(space.error());
  plan.space = std::move(*space);
  search::Candidates all = search::candidates_of(plan.space, micro, plan.held.problem, device);
  std::vector<Config> fitting;
  for (Config& config : all.configs) {
    auto fits = fits_problem(micro, config, attention);
    if (!fits) return fail(fits.error());
    if (*fits) fitting.push_back(std::move(config));
  }
  made.candidates = search::candidates_of(fitting, micro, plan.held.problem, device);
  for (search::Excluded& one : all.excluded) {  // a tile that its warps cannot divide is left out
    if (one.why == search::Exclusion::restriction) continue;
    auto fits = fits_problem(micro, one.config, attention);
    if (!fits) return fail(fits.error());
    if (*fits) made.candidates.excluded.push_back(std::move(one));
  }
  return made;
}

Result<std::optional<MicroRow>> micro_row(const Kernel& micro, const Config& config, const Observation& run) {
  if (!is_accepted(run) || !run.fragment_cycles) return std::nullopt;
  auto work = catalog::fragment_work(micro, config);
  if (!work) return fail(work.error());
  return MicroRow{&micro, config, *run.fragment_cycles, *work};
}

Result<std::vector<MicroRow>> stored_rows(const std::vector<Kernel>& micros, const Problem& attention,
                                          const Found& device, store::Results& results) {
  std::vector<MicroRow> rows;
  for (const Kernel& micro : micros) {
    auto held = catalog::complete_config(micro, {}, micro.options);
    if (!held) return fail(held.error());
    auto asked = micro_search(micro, *held, {}, attention, device.device);
    if (!asked) return fail(asked.error());
    for (const Config& config : asked->candidates.configs) {
      Experiment experiment = asked->plan.held;
      experiment.config = config;
      auto stored = results.newest(hash_of(experiment));
      if (!stored) return fail(stored.error());
      if (!*stored || !answers_again((*stored)->observation, device.versions_of_runs(), false)) continue;
      auto row = micro_row(micro, config, (*stored)->observation);
      if (!row) return fail(row.error());
      if (*row) rows.push_back(std::move(**row));
    }
  }
  return rows;
}

Result<std::vector<Config>> fewest_clocks(const std::vector<Kernel>& micros, const std::vector<MicroRow>& rows,
                                          const Kernel& kernel, const Problem& problem,
                                          const std::vector<Config>& configs, size_t most) {
  std::vector<std::pair<double, size_t>> found;  // clocks per unit of work over all fragments, and the config
  for (size_t at = 0; at < configs.size(); ++at) {
    double sum = 0;
    bool any = false;
    for (const Kernel& micro : micros) {
      if (!stands_for(micro, kernel.id)) continue;
      any = true;
      double least = std::numeric_limits<double>::infinity();
      for (const MicroRow& row : rows) {
        if (row.kernel->id != micro.id || !agree(row.config, configs[at])) continue;
        auto stands = catalog::fragment_stands(micro, row.config, kernel, problem, configs[at]);
        if (!stands) return fail(stands.error());
        if (*stands) least = std::min(least, row.per_work());
      }
      sum += least;
    }
    if (any && sum < std::numeric_limits<double>::infinity()) found.emplace_back(sum, at);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, size_t>::first);
  std::vector<Config> best;
  for (size_t at = 0; at < std::min(most, found.size()); ++at) best.push_back(configs[found[at].second]);
  return best;
}

Result<MicroSeeds> micro_seeds(const std::filesystem::path& resources, const Plan& plan,
                               const search::Candidates& candidates, const Found& device, store::Results* results) {
  if (results == nullptr || !plan.held.problem.is_attention()) return MicroSeeds{};
  auto micros = micro_kernels(resources);
  if (!micros) return fail(micros.error());
  std::erase_if(*micros, [&](const Kernel& micro) { return !stands_for(micro, plan.kernel.id); });
  if (micros->empty()) return MicroSeeds{};
  auto rows = stored_rows(*micros, plan.held.problem, device, *results);
  if (!rows) return fail(rows.error());
  auto fewest = fewest_clocks(*micros, *rows, plan.kernel, plan.held.problem, candidates.configs, MicroSeeds::kMost);
  if (!fewest) return fail(fewest.error());
  MicroSeeds seeds{std::move(*fewest), {}};
  seeds.note = seeds.configs.empty()
                   ? "generation 0 is random: `attnscope micro` has not clocked the fragments of " + plan.kernel.id +
                         " for this problem on " + device.device.id
                   : fmt::format("generation 0 starts from the microbenchmark's {} configs with the fewest clocks",
                                 seeds.configs.size());
  return seeds;
}

}  // namespace attnscope::sweep
