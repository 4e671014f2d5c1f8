#include "catalog/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/launch.h"
#include "core/joined.h"
#include "core/options.h"
#include "core/text.h"

namespace attnscope::catalog {
namespace {

std::string values_of(const Knob& knob) { return joined(knob.values, full_text); }

std::string knobs_of(const Kernel& kernel) {
  const std::string known = joined(kernel.knobs, &Knob::name);
  return known.empty() ? "This kernel has no knobs." : "Its knobs are " + known + ".";
}

Failure unknown_knob(const Kernel& kernel, std::string_view name) {
  return {Stage::input, fmt::format("{}: no knob is named {}", kernel.id, name), knobs_of(kernel)};
}

Failure illegal_value(const Kernel& kernel, const Knob& knob, std::string_view value) {
  return {Stage::input, fmt::format("{}: {} is not a value of {}", kernel.id, value, knob.name),
          fmt::format("{} takes {}.", knob.name, values_of(knob))};
}

template <class T>
bool holds_value(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

// The sizes must be the kernel's own, and its buffers must fit into memory.
Result<void> check_sizes(const Kernel& kernel, const Problem& problem) {
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::ranges::equal(kernel.sizes, problem.sizes, same_name)) {
    const std::string known = joined(kernel.sizes, [](const auto& size) { return size.first; });
    return fail(Stage::input, fmt::format("{}: the problem's sizes are not the kernel's", kernel.id),
                known.empty() ? "It has none." : "Its sizes are " + known + ".");
  }
  return {};
}

Result<void> check_supports(const Kernel& kernel, const Problem& problem) {
  auto refuse = [&](const std::string& what, const std::string& takes, const std::string& has) {
    return fail(Stage::input, fmt::format("{} takes {} {}; the problem has {}", kernel.id, what, takes, has),
                fmt::format("Set {} to one of {}, or choose another kernel.", what, takes));
  };
  const Supports& supports = kernel.supports;
  auto word = [](auto value) { return to_string(value); };
  auto digits = [](int64_t value) { return std::to_string(value); };
  if (problem.kind != kernel.problem)
    return refuse("kind", std::string(to_string(kernel.problem)), std::string(to_string(problem.kind)));
  if (!problem.is_attention()) return check_sizes(kernel, problem);
  if (!holds_value(supports.dtypes, problem.dtype))
    return refuse("dtype", joined(supports.dtypes, word), std::string(to_string(problem.dtype)));
  if (!holds_value(supports.head_dims, problem.head_dim))
    return refuse("head_dim", joined(supports.head_dims, digits), digits(problem.head_dim));
  if (!holds_value(supports.causals, problem.causal))
    return refuse("causal", joined(supports.causals, word), std::string(to_string(problem.causal)));
  if (!holds_value(supports.layouts, problem.layout))
    return refuse("layout", joined(supports.layouts, word), std::string(to_string(problem.layout)));
  if (problem.kv_heads != problem.heads && !supports.grouped_heads)
    return refuse("kv_heads", "equal to heads", fmt::format("{} for {} heads", problem.kv_heads, problem.heads));
  return {};
}

}  // namespace

Result<Config> complete_config(const Kernel& kernel, const std::map<std::string, int64_t>& overrides,
                               const CompileOptions& options) {
  Config config;
  config.options = options;
  if (auto valid = check_options(options); !valid) return fail(valid.error());
  for (const Knob& knob : kernel.knobs) config.knobs[knob.name] = knob.default_value;
  for (const auto& [name, value] : overrides) {
    const Knob* knob = kernel.find_knob(name);
    if (!knob) return fail(unknown_knob(kernel, name));
    if (!knob->find(value)) return fail(illegal_value(kernel, *knob, std::to_string(value)));
    config.knobs[name] = value;
  }
  return config;
}

Result<int64_t> knob_value(const Kernel& kernel, const Knob& knob, std::string_view text) {
  const auto number = number_of<int64_t>(text);
  for (const KnobValue& value : knob.values)
    if ((!value.label.empty() && value.label == text) || value.value == number) return value.value;
  return fail(illegal_value(kernel, knob, "\"" + std::string(text.substr(0, 100)) + "\""));
}

std::string full_text(const KnobValue& value) {
  return value.label.empty() ? value.text() : fmt::format("{} ({})", value.label, value.value);
}

Result<std::pair<std::string, int64_t>> parse_setting(const Kernel& kernel, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(Stage::input, fmt::format("\"{}\" is not KNOB=VALUE", text.substr(0, 100)), knobs_of(kernel));
  const std::string name(text.substr(0, equals));
  const Knob* knob = kernel.find_knob(name);
  if (!knob) return fail(unknown_knob(kernel, name.substr(0, 100)));
  return knob_value(kernel, *knob, text.substr(equals + 1)).map([&](int64_t value) { return std::pair{name, value}; });
}

Result<void> check_restrictions(const Kernel& kernel, const Problem& problem, const Config& config, int arch) {
  if (auto taken = check_supports(kernel, problem); !taken) return taken;
  if (arch != 0 && arch < kernel.min_arch)
    return fail(Stage::input, fmt::format("{} needs sm_{}; the device is sm_{}", kernel.id, kernel.min_arch, arch),
                "Choose a newer device.");
  const Variables known = variables(kernel, problem, config);
  for (size_t i = 0; i < kernel.requires_.size(); ++i) {
    const Restriction& restriction = kernel.requires_[i];
    Result<bool> met = holds(restriction.expr, known, fmt::format("{}/requires/{}/expr", kernel.manifest_name, i));
    if (!met) return fail(met.error());
    if (!*met)
      return fail(Stage::input, fmt::format("{} with {}: {}", kernel.id, short_text(config, kernel), restriction.why),
                  "The manifest requires " + restriction.expr + ".");
  }
  return {};
}

Result<void> check_runs(const Kernel& kernel, const DeviceSpec& device) {
  if (holds_value(device.runs, kernel.library)) return {};
  const std::string has = joined(device.runs, &Library::name);
  if (kernel.library.is_source())
    return fail(Stage::device, fmt::format("{} is CUDA source; {} only runs {}", kernel.id, device.id, has),
                "Choose a kernel of " + has + ", or another device.");
  return fail(Stage::device,
              fmt::format("{} is a routine of {}, which {} does not have", kernel.id, kernel.library.name(), device.id),
              kernel.install);
}

Result<Accumulate> accumulate_of(const Kernel& kernel, const Config& config) {
  const Knob* knob = kernel.find_knob(kernel.accumulate);
  return parse_word<Accumulate>(knob ? knob->text_of(config.knobs.at(knob->name)) : kernel.accumulate);
}

Result<std::optional<int64_t>> tensor_products_of(const Kernel& kernel, const Problem& problem, const Config& config) {
  if (kernel.tensor_products.empty()) return std::nullopt;
  auto made = evaluate(kernel.tensor_products, variables(kernel, problem, config), kernel.where("tensor_products"));
  if (!made) return fail(made.error());
  return *made;
}

Result<std::vector<std::string>> warnings(const Kernel& kernel, const Problem& problem, const Config& config) {
  std::vector<std::string> found;
  const Variables known = variables(kernel, problem, config);
  for (size_t i = 0; i < kernel.warns.size(); ++i) {
    Result<bool> met = holds(kernel.warns[i].expr, known, fmt::format("{}/warns/{}/expr", kernel.manifest_name, i));
    if (!met) return fail(met.error());
    if (*met) found.push_back(kernel.warns[i].why);
  }
  return found;
}

}  // namespace attnscope::catalog
