#include "cli/bench_plan.h"

#include <algorithm>
#include <sstream>

#include "catalog/validate.h"
#include "cli/experiment_options.h"
#include "core/device_id.h"
#include "core/near.h"
#include "search/space.h"
#include "sweep/twin.h"

namespace attnscope::cli {
namespace {

using report::Entry;

// The reports' shape, without and with a mask; one that fills a GPU; long rows at both head sizes.
constexpr const char* kDefaultProblems[] = {"B=1,H=8,S=512,D=64", "B=1,H=8,S=512,D=64,causal=bottom_right",
                                            "B=32,H=8,S=512,D=64", "B=4,H=16,S=4096,D=64", "B=4,H=16,S=4096,D=128"};

// An entry before its device is known.
struct NamedEntry : NamedConfig {
  bool peer = false, baseline = false;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

// Every value of the first knob of every library kernel that is compared with ours: torch's backends.
std::vector<std::string> default_peers(const std::vector<Kernel>& kernels) {
  std::vector<std::string> peers;
  for (const Kernel& kernel : kernels) {
    if (kernel.library.is_source() || kernel.problem != ProblemKind::attention) continue;
    if (kernel.knobs.empty()) peers.push_back(kernel.id);
    for (const KnobValue& value : kernel.knobs.empty() ? std::vector<KnobValue>() : kernel.knobs.front().values)
      peers.push_back(kernel.id + ":" + kernel.knobs.front().name + "=" + value.text());
  }
  return peers;
}

Result<std::vector<NamedEntry>> entries_of(const BenchWishes& wishes, const std::vector<Kernel>& kernels,
                                           bool emulated) {
  std::vector<std::string> ours = wishes.kernels;
  if (ours.empty())
    for (const Kernel& kernel : kernels)
      if (kernel.library.is_source() && kernel.problem == ProblemKind::attention) ours.push_back(kernel.id);
  const auto peers = wishes.peers.empty() && !emulated && !wishes.without_peers ? default_peers(kernels) : wishes.peers;
  std::vector<NamedEntry> entries;
  using List = std::pair<const std::vector<std::string>*, bool>;
  for (const auto& [list, peer] : {List(&ours, false), List(&peers, true)})
    for (const std::string& text : *list) {
      auto config = named_config(text, kernels, peer ? "--peer" : "--kernel");
      if (!config) return fail(config.error());
      NamedEntry entry{*config, peer, !peer && text == wishes.baseline};
      const bool twice = std::any_of(entries.begin(), entries.end(), [&](const NamedEntry& other) {
        return other.kernel.id == entry.kernel.id && other.knobs == entry.knobs && other.peer == entry.peer;
      });
      if (twice) return fail(Stage::input, entry.label + " is asked for twice", "Name each entry once.");
      entries.push_back(std::move(entry));
    }
  if (entries.empty()) return fail(Stage::input, "there is no kernel to time", "Name one with --kernel ID.");
  return entries;
}

// A library with its own worker runs on the same GPU through that worker: "torch/cuda:0" beside "cuda:0".
std::string device_for(const Kernel& kernel, const DeviceSpec& device) {
  if (catalog::check_runs(kernel, device)) return device.id;
  return id_at(kernel.library.name(), DeviceId(device.id).local);
}

struct ChosenConfig {
  Config config;
  report::ConfigFrom from = report::ConfigFrom::named;
  std::optional<Problem> tuned_for = {};
};

// The tuned config of the problem, or of the nearest one whose config may run this one; the manifest's defaults if
// there is none.
ChosenConfig config_for(const NamedEntry& entry, const Problem& problem, const std::vector<report::TunedTable>& tuned,
                        const BenchWishes& wishes, const DeviceSpec& device) {
  using report::ConfigFrom;
  const Kernel& kernel = entry.kernel;
  const Config usual{{}, kernel.options};
  if (!entry.knobs.empty()) return {{entry.knobs, kernel.options}};
  if (wishes.defaults) return {usual, ConfigFrom::defaults};
  // A table may be for an earlier version of the kernel; its config is used if the kernel still accepts it.
  const report::TunedEntry* best = report::best_entry(tuned, device.name, problem, kernel.id);
  if (best && catalog::complete_config(kernel, best->config.knobs, best->config.options))
    return {best->config, ConfigFrom::tuned};
  if (kernel.knobs.empty()) return {usual};
  const auto fits = [&](const Config& config) {
    const auto complete = catalog::complete_config(kernel, config.knobs, config.options);
    return complete && search::candidates_of(std::vector{*complete}, kernel, problem, device).excluded.empty();
  };
  const report::TunedEntry* nearest = report::nearest_entry(tuned, device.name, problem, kernel.id, fits);
  if (nearest && report::same_shape(nearest->problem, problem)) return {nearest->config, ConfigFrom::tuned};
  if (nearest) return {nearest->config, ConfigFrom::nearest, nearest->problem};
  return {usual, ConfigFrom::untuned};
}

Draft entry_draft(const NamedEntry& entry, const Problem& problem, CacheState cache, Config config,
                  const DeviceSpec& device, int64_t block_ms) {
  Draft draft{problem, entry.kernel.id, std::move(config), device_for(entry.kernel, device), {}};
  draft.measure.cache = cache;
  draft.measure.max_time_ms = block_ms;
  if (device.emulated) draft.measure.sampled_share = sweep::emulated_share(problem);
  return draft;
}

}  // namespace

Result<NamedConfig> named_config(const std::string& text, const std::vector<Kernel>& kernels,
                                 const std::string& option) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string id = text.substr(0, colon);
  const Kernel* kernel = find_kernel(kernels, id);
  if (!kernel)
    return fail(Stage::input, option + " " + text + ": there is no kernel \"" + id + "\"",
                names_to_choose(id, ids_of(kernels)) + " Write ID or ID:KNOB=VALUE,KNOB=VALUE.");
  NamedConfig entry{*kernel, {}, id};
  if (colon == text.size()) return entry;
  for (const std::string& setting : split(text.substr(colon + 1), ',')) {
    auto parsed = catalog::parse_setting(*kernel, setting);
    if (!parsed) return fail(parsed.error());
    entry.knobs[parsed->first] = parsed->second;
    const KnobValue& value = *kernel->find_knob(parsed->first)->find(parsed->second);
    entry.label += " " + (value.label.empty() ? parsed->first + "=" + value.text() : value.label);
  }
  return entry;
}

Result<std::vector<Problem>> bench_problems(std::vector<std::string> texts) {
  if (texts.empty()) texts.assign(std::begin(kDefaultProblems), std::end(kDefaultProblems));
  std::vector<Problem> problems;
  for (const std::string& text : texts) {
    auto problem = problem_from_text(text);
    if (!problem) return fail(problem.error());
    problems.push_back(*problem);
  }
  return problems;
}

Result<BenchTasks> plan_bench(const BenchWishes& wishes, const std::vector<Kernel>& kernels,
                              const std::vector<report::TunedTable>& tuned, const DeviceSpec& device,
                              const Versions& versions) {
  auto problems = wishes.of_problems.empty() ? bench_problems(wishes.problems) : wishes.of_problems;
  if (!problems) return fail(problems.error());
  auto entries = entries_of(wishes, kernels, device.emulated);
  if (!entries) return fail(entries.error());
  BenchTasks tasks;
  report::BenchPlan& plan = tasks.plan;
  plan.blocks = wishes.quick ? measure::kFewestBlocks : 12;
  plan.block_ms = wishes.quick ? 30 : 100;
  plan.head.device = device.id;
  plan.head.device_name = device.name;
  plan.head.arch = device.arch;
  plan.head.emulated = device.emulated;
  plan.head.versions = versions;
  for (const NamedEntry& entry : *entries) {
    plan.head.entries.push_back({entry.label, entry.kernel.id, entry.kernel.content_hash, entry.peer,
                                 device_for(entry.kernel, device), "", entry.baseline});
    tasks.kernels.push_back(entry.kernel);
  }
  for (const Problem& problem : *problems)
    for (const auto& [cache, left_out_by] :
         {std::pair{CacheState::hot, BenchCaches::cold}, {CacheState::cold, BenchCaches::hot}}) {
      if (wishes.caches == left_out_by) continue;
      plan.head.rows.push_back({problem, cache, {}});
      auto& drafts = tasks.drafts.emplace_back();
      for (const NamedEntry& entry : *entries) {
        ChosenConfig chosen = config_for(entry, problem, tuned, wishes, device);
        report::Cell& asked = plan.head.rows.back().cells.emplace_back();
        asked.knobs = chosen.config.knobs;  // so that a plan with other configs counts as another plan
        asked.options = chosen.config.options;
        asked.config_from = chosen.from;
        asked.tuned_for = chosen.tuned_for;
        drafts.push_back(entry_draft(entry, problem, cache, std::move(chosen.config), device, plan.block_ms));
      }
    }
  return tasks;
}

}  // namespace attnscope::cli
