#include "catalog/choices.h"

#include <fmt/format.h>

#include "catalog/validate.h"
#include "model/limits.h"

namespace attnscope::catalog {
namespace {

// Only the compiler knows the registers: 0 skips them.
Result<void> fits(const Launch& launch, const DeviceSpec& spec, const std::string& who) {
  VariantInfo asked;
  asked.static_shared_bytes = launch.static_shared.value_or(0);
  asked.dynamic_shared_bytes = launch.dynamic_shared;
  return model::check_limits(spec, asked, launch.shape, who);
}

// Each launch of a program must fit.
Result<void> all_fit(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec,
                     const std::string& who) {
  if (kernel.steps.empty()) {
    Result<Launch> launch = launch_of(kernel, problem, config);
    return launch ? fits(*launch, spec, who) : fail(launch.error());
  }
  for (const Kernel& one : kernel.launches()) {
    Result<Launch> launch = launch_of(one, problem, config);
    if (!launch) return fail(launch.error());
    if (auto fit = fits(*launch, spec, fmt::format("{}, launch {}, {}", who, *one.step + 1, one.entry)); !fit)
      return fit;
  }
  return {};
}

bool works(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec) {
  if (!check_restrictions(kernel, problem, config, spec.arch)) return false;
  return all_fit(kernel, problem, config, spec, kernel.id).has_value();
}

std::vector<std::pair<std::string, int64_t>> sizes_of(const Problem& problem) {
  if (!problem.is_attention()) return {problem.sizes.begin(), problem.sizes.end()};
  return {{"batch", problem.batch}, {"heads", problem.heads}, {"seq_q", problem.seq_q}, {"seq_k", problem.seq_k}};
}

Problem with_size(Problem problem, const std::string& name, int64_t value) {
  if (!problem.is_attention()) problem.sizes[name] = value;
  if (name == "batch") problem.batch = value;
  if (name == "heads") problem.heads = problem.kv_heads = value;
  if (name == "seq_q") problem.seq_q = value;
  if (name == "seq_k") problem.seq_k = value;
  return problem;
}

// "Set B to 65535 or less.": a size that lets the config run if it is smaller; empty if no single one does.
std::string smaller_size(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec) {
  for (const auto& [name, asked] : sizes_of(problem)) {
    int64_t fits = 1, too_large = asked;
    if (asked <= 1 || !works(kernel, with_size(problem, name, fits), config, spec)) continue;
    while (too_large - fits > 1) {
      const int64_t middle = fits + (too_large - fits) / 2;
      (works(kernel, with_size(problem, name, middle), config, spec) ? fits : too_large) = middle;
    }
    return fmt::format("Set {} to {} or less.", name, fits);
  }
  return {};
}

// The limits' message. Its hint is one other knob or a smaller size, if that helps. `turned` is the knob that a person
// is about to set, which is therefore not a way out.
Result<void> limits(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec,
                    const std::string& who, const std::string& turned) {
  if (!kernel.library.is_source()) return {};  // the library decides how its routine is launched
  auto fit = all_fit(kernel, problem, config, spec, who);
  if (fit || fit.error().stage != Stage::limits) return fit;
  std::string hint;
  if (const std::optional<WayOut> way = way_out(kernel, problem, config, spec, turned))
    hint = fmt::format("Set {} to {}.", way->knob, way->text);
  else if (turned.empty())  // for the whole config; the values of the knobs need not repeat it
    hint = smaller_size(kernel, problem, config, spec);
  return fail(fit.error().stage, fit.error().message, hint.empty() ? fit.error().hint : hint);
}

}  // namespace

std::optional<WayOut> way_out(const Kernel& kernel, const Problem& problem, const Config& config,
                              const DeviceSpec& spec, const std::string& except) {
  const Result<Launch> asked = launch_of(kernel, problem, config);
  std::optional<WayOut> best;
  int64_t most_kept = -1;  // bytes
  for (const Knob& knob : kernel.knobs) {
    if (knob.name == except) continue;
    for (const KnobValue& value : knob.values) {
      Config other = config;
      other.knobs[knob.name] = value.value;
      if (other == config || !works(kernel, problem, other, spec)) continue;
      const int64_t shared = launch_of(kernel, problem, other)->shared_total();
      WayOut way{knob.name, value.value, value.text()};
      if (asked && shared == asked->shared_total()) return way;
      const int64_t kept = asked && shared > asked->shared_total() ? 0 : shared;
      if (kept <= most_kept) continue;
      best = std::move(way);
      most_kept = kept;
    }
  }
  return best;
}

std::vector<KnobChoice> choices(const Kernel& kernel, const Problem& problem, const Config& config,
                                const DeviceSpec& spec) {
  std::vector<KnobChoice> all;
  for (const Knob& knob : kernel.knobs)
    for (const KnobValue& value : knob.values) {
      Config candidate = config;
      candidate.knobs[knob.name] = value.value;
      KnobChoice choice;
      choice.knob = knob.name;
      choice.value = value.value;
      choice.text = value.text();
      choice.chosen = candidate == config;
      choice.is_default = value.value == knob.default_value;
      auto taken = check_restrictions(kernel, problem, candidate, spec.arch);
      if (taken) taken = limits(kernel, problem, candidate, spec, knob.name + "=" + choice.text, knob.name);
      if (!taken) {
        choice.legal = false;
        choice.reason = taken.error().message;
        choice.hint = taken.error().hint;
      } else if (auto warned = warnings(kernel, problem, candidate)) {
        choice.warnings = std::move(*warned);
      }
      all.push_back(std::move(choice));
    }
  return all;
}

Result<void> foretell_limits(const Kernel& kernel, const Problem& problem, const Config& config,
                             const DeviceSpec& spec) {
  const std::string settings = short_text(config, kernel);
  return limits(kernel, problem, config, spec, settings.empty() ? kernel.id : kernel.id + " with " + settings, "");
}

Result<void> check_config(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec) {
  if (auto taken = check_restrictions(kernel, problem, config, spec.arch); !taken) return taken;
  return foretell_limits(kernel, problem, config, spec);
}

}  // namespace attnscope::catalog
