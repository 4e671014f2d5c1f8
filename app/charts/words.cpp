#include "charts/words.h"

#include <fmt/format.h>

#include "charts/format.h"
#include "core/option_fields.h"
#include "core/options.h"

namespace attnscope::charts {
namespace {

constexpr double kFewLanes = 0.9;  // of 32; below this, idle lanes are mentioned

std::string conflicts(const Counters& counters) {
  if (counters.shared_wavefronts <= 0) return {};
  if (counters.shared_bank_conflicts == 0) return "no bank conflict among its wavefronts";
  return fmt::format("{} of its wavefronts are bank conflicts",
                     percent_text(static_cast<double>(counters.shared_bank_conflicts) /
                                  static_cast<double>(counters.shared_wavefronts)));
}

std::string lanes(const Counters& counters) {
  if (counters.active_lanes_mean <= 0 || counters.active_lanes_mean >= 32 * kFewLanes) return {};
  return fmt::format("{:.1f} of 32 lanes take part on average", counters.active_lanes_mean);
}

std::string warps(const Occupancy& occupancy) {
  return fmt::format("{} warp{} per SM to hide it behind", occupancy.warps_per_sm,
                     occupancy.warps_per_sm == 1 ? "" : "s");
}

std::string device_words(const Observation& seen) {
  return seen.experiment.device + (seen.versions.gpu.empty() ? "" : " (" + seen.versions.gpu + ")");
}

// The text of the counter that explains the bound.
std::string shown_by(Bound bound, const Observation& seen) {
  switch (bound) {
    case Bound::shared_memory:
      return seen.counters ? conflicts(*seen.counters) : "";
    case Bound::issue_slots:
    case Bound::arithmetic_units:
      return seen.counters ? lanes(*seen.counters) : "";
    case Bound::instruction_latency:
    case Bound::global_latency:
    case Bound::short_latency:
      return seen.occupancy ? warps(*seen.occupancy) : "";
    default:
      return "";
  }
}

}  // namespace

std::string bound_sentence(const Observation& seen) {
  if (!seen.timing || seen.timing->bound == Bound::unknown) return {};
  const std::string shown = shown_by(seen.timing->bound, seen);
  return "bound by " + std::string(to_string(seen.timing->bound)) + (shown.empty() ? "" : ": " + shown);
}

std::string unlike_sentence(const Observation& a, const Observation& b) {
  const auto sides = [](std::string_view one, std::string_view two) { return fmt::format("{} against {}", one, two); };
  const Experiment &x = a.experiment, &y = b.experiment;
  switch (comparable(a, b)) {
    case Unlike::none:
      return {};
    case Unlike::operation:
      return sides(to_string(x.problem.kind), to_string(y.problem.kind));
    case Unlike::problem: {
      const std::string one = short_text(x.problem), two = short_text(y.problem);
      return one != two ? sides(one, two) : one + " with another type, layout or inputs";
    }
    case Unlike::device:
      return sides(device_words(a), device_words(b));
    case Unlike::cache:
      return sides(std::string(to_string(x.measure.cache)) + " cache",
                   std::string(to_string(y.measure.cache)) + " cache");
    case Unlike::kind:
      return sides(to_string(a.timing->kind), to_string(b.timing->kind));
    case Unlike::version:
      return sides("attnscope " + a.versions.app, "attnscope " + b.versions.app);
    case Unlike::untimed:
      return "one of them has no time";
  }
  return {};
}

std::string config_words(const Experiment& experiment, const Kernel* kernel, const std::string& full) {
  if (kernel == nullptr || kernel->content_hash != experiment.kernel_hash)
    return experiment.kernel + (full.empty() ? "" : "  " + full);
  std::string words;
  for (const Knob& knob : kernel->knobs) {
    const auto held = experiment.config.knobs.find(knob.name);
    if (held != experiment.config.knobs.end() && held->second != knob.default_value)
      words += " " + knob.name + "=" + knob.text_of(held->second);
  }
  for_each_option([&](std::string_view name, std::string_view title, auto member) {
    const CompileOptions& options = experiment.config.options;
    if (options.*member != kernel->options.*member) words += fmt::format(", {} {}", title, shown_option(options, name));
  });
  if (!words.empty() || kernel->knobs.empty()) return kernel->id + words;
  return kernel->id + ", every knob at its default";
}

std::string longest_launch_words(const Observation& seen) {
  const auto longest = longest_launch(seen.launches);
  if (!longest) return {};
  const LaunchFigures& one = seen.launches[*longest];
  return fmt::format("launch {} of {}, {}{}", *longest + 1, seen.launches.size(), one.name,
                     one.timing ? ", the longest" : "");
}

}  // namespace attnscope::charts
