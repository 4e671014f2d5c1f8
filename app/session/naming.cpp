#include "session/naming.h"

#include <vector>

#include "core/config.h"
#include "core/joined.h"
#include "core/option_fields.h"
#include "core/options.h"

namespace attnscope::session {
namespace {

using Texts = std::vector<std::string>;

std::string value_text(const Kernel* kernel, const std::string& name, int64_t value) {
  const Knob* knob = kernel ? kernel->find_knob(name) : nullptr;
  return knob ? knob->text_of(value) : std::to_string(value);
}

// Adds the options of `other` that differ.
void add_options(Texts& texts, const CompileOptions& other, const CompileOptions& wanted) {
  for_each_option([&](const std::string& key, std::string_view, auto member) {
    if (other.*member != wanted.*member) texts.push_back(key + "=" + shown_option(other, key));
  });
}

// Lists what differs besides kernel and config; say(label, before, after) makes the text.
template <class Say>
void add_rest(Texts& texts, const Experiment& before, const Experiment& after, Say say) {
  if (before.problem != after.problem) {
    const std::string from = short_text(before.problem), to = short_text(after.problem);
    texts.push_back(from != to ? say("", from, to) : std::string("other inputs"));
  }
  if (before.device != after.device) texts.push_back(say("device ", before.device, after.device));
  if (texts.empty() && before.measure != after.measure) texts.emplace_back("another measuring policy");
}

}  // namespace

std::string difference_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel) {
  Texts config, texts;
  if (other.kernel != wanted.kernel) {
    config.push_back(other.kernel);
    if (kernel) config.push_back(short_text(other.config, *kernel));
  } else {
    if (other.kernel_hash != wanted.kernel_hash) texts.push_back(other.kernel + " before the edit");
    for (const auto& [name, value] : other.config.knobs) {
      const auto same = wanted.config.knobs.find(name);
      if (same == wanted.config.knobs.end() || same->second != value)
        config.push_back(name + "=" + value_text(kernel, name, value));
    }
  }
  add_options(config, other.config.options, wanted.config.options);
  if (!config.empty()) texts.push_back(joined(config, std::identity(), " "));
  add_rest(texts, other, wanted, [](const char*, const std::string& before, const std::string&) { return before; });
  return texts.empty() ? "the run before" : joined(texts);
}

std::string step_text(const Experiment& from, const Experiment& to, const Kernel* kernel) {
  Texts texts;
  const auto step = [](const std::string& label, const std::string& before, const std::string& after) {
    return label + before + " \u2192 " + after;
  };
  if (from.kernel != to.kernel) {
    texts.push_back(step("kernel ", from.kernel, to.kernel));
  } else {
    if (from.kernel_hash != to.kernel_hash) texts.push_back(to.kernel + " edited");
    for (const auto& [name, value] : to.config.knobs) {
      const auto before = from.config.knobs.find(name);
      if (before != from.config.knobs.end() && before->second != value)
        texts.push_back(step(name + " ", value_text(kernel, name, before->second), value_text(kernel, name, value)));
    }
    add_options(texts, to.config.options, from.config.options);
  }
  add_rest(texts, from, to, step);
  return texts.empty() ? "run again" : joined(texts);
}

}  // namespace attnscope::session
