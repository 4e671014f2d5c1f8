#include "session/naming.h"

#include "core/config.h"
#include "core/option_fields.h"

namespace attnscope::session {
namespace {

void add(std::string& text, const std::string& word, const char* separator = " ") {
  text += (text.empty() ? "" : separator) + word;
}

std::string knobs_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel) {
  std::string text;
  for (const auto& [name, value] : other.config.knobs) {
    auto same = wanted.config.knobs.find(name);
    if (same != wanted.config.knobs.end() && same->second == value) continue;
    const Knob* knob = kernel ? kernel->find_knob(name) : nullptr;
    add(text, name + "=" + (knob ? knob->text_of(value) : std::to_string(value)));
  }
  return text;
}

std::string options_text(const CompileOptions& other, const CompileOptions& wanted) {
  std::string text;
  for_each_option([&](const std::string& key, std::string_view, auto member) {
    if (other.*member != wanted.*member) add(text, key + "=" + option_text(other.*member));
  });
  return text;
}

}  // namespace

std::string difference_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel) {
  std::string text;
  if (other.kernel != wanted.kernel) {
    add(text, other.kernel);
    if (kernel) add(text, short_text(other.config, *kernel));
  } else {
    if (other.kernel_hash != wanted.kernel_hash) add(text, other.kernel + " before the edit");
    if (const std::string knobs = knobs_text(other, wanted, kernel); !knobs.empty()) add(text, knobs, ", ");
  }
  if (const std::string options = options_text(other.config.options, wanted.config.options); !options.empty())
    add(text, options);
  if (other.problem != wanted.problem) {
    const std::string name = short_text(other.problem);
    add(text, name != short_text(wanted.problem) ? name : "other inputs", ", ");
  }
  if (other.device != wanted.device) add(text, other.device, ", ");
  if (text.empty() && other.measure != wanted.measure) text = "another measuring policy";
  return text.empty() ? "the run before" : text;
}

std::string step_text(const Experiment& from, const Experiment& to, const Kernel* kernel) {
  std::string text;
  const auto arrow = [](const std::string& a, const std::string& b) { return a + " \u2192 " + b; };
  if (from.kernel != to.kernel) {
    add(text, "kernel " + arrow(from.kernel, to.kernel));
  } else {
    if (from.kernel_hash != to.kernel_hash) add(text, to.kernel + " edited");
    for (const auto& [name, value] : to.config.knobs) {
      const auto before = from.config.knobs.find(name);
      if (before == from.config.knobs.end() || before->second == value) continue;
      const Knob* knob = kernel ? kernel->find_knob(name) : nullptr;
      const auto text_of = [&](int64_t v) { return knob ? knob->text_of(v) : std::to_string(v); };
      add(text, name + " " + arrow(text_of(before->second), text_of(value)), ", ");
    }
    if (const std::string options = options_text(to.config.options, from.config.options); !options.empty())
      add(text, options, ", ");
  }
  if (from.problem != to.problem) {
    const std::string before = short_text(from.problem), after = short_text(to.problem);
    add(text, before != after ? arrow(before, after) : "other inputs", ", ");
  }
  if (from.device != to.device) add(text, "device " + arrow(from.device, to.device), ", ");
  if (text.empty() && from.measure != to.measure) text = "another measuring policy";
  return text.empty() ? "run again" : text;
}

}  // namespace attnscope::session
