#include "charts/compared_settings.h"

#include <algorithm>

#include "core/option_fields.h"
#include "core/options.h"

namespace attnscope::charts {
namespace {

constexpr const char* kNone = "\u2013";

std::string value_text(const Experiment& experiment, const Kernel* kernel, const std::string& name) {
  const auto held = experiment.config.knobs.find(name);
  if (held == experiment.config.knobs.end()) return kNone;
  const Knob* knob = kernel != nullptr ? kernel->find_knob(name) : nullptr;
  return knob != nullptr ? knob->text_of(held->second) : std::to_string(held->second);
}

// In the kernels' order and without duplicates; for an unknown kernel in its config's order.
std::vector<std::string> knob_names(const Experiment& a, const Experiment& b, const Kernel* a_kernel,
                                    const Kernel* b_kernel) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Kernel* kernel : {a_kernel, b_kernel})
    if (kernel != nullptr)
      for (const Knob& knob : kernel->knobs) add(knob.name);
  for (const Experiment* experiment : {&a, &b})
    for (const auto& [name, value] : experiment->config.knobs) add(name);
  return names;
}

}  // namespace

std::vector<ComparedRow> compared_settings(const Experiment& a, const Experiment& b, const Kernel* a_kernel,
                                           const Kernel* b_kernel) {
  std::vector<ComparedRow> rows;
  const auto add = [&](const std::string& name, const std::string& before, const std::string& after) {
    if (before != after) rows.push_back({name, before, after, "", 0, true});
  };
  add("kernel", a.kernel, b.kernel);
  add("problem", short_text(a.problem), short_text(b.problem));
  add("device", a.device, b.device);
  for (const std::string& name : knob_names(a, b, a_kernel, b_kernel))
    add(name, value_text(a, a_kernel, name), value_text(b, b_kernel, name));
  for_each_option([&](std::string_view name, std::string_view title, auto) {
    add(std::string(title), shown_option(a.config.options, name), shown_option(b.config.options, name));
  });
  return rows;
}

}  // namespace attnscope::charts
