#include "core/config.h"

#include "core/options.h"

namespace attnscope {

std::string short_text(const Config& config, const Kernel& kernel) {
  std::string text;
  for (const Knob& knob : kernel.knobs) {
    auto found = config.knobs.find(knob.name);
    if (found == config.knobs.end()) continue;
    text += (text.empty() ? "" : " ") + knob.name + "=" + knob.text_of(found->second);
  }
  return text;
}

std::string short_text(const Config& config, const Kernel& kernel, const CompileOptions& usual) {
  std::string text = short_text(config, kernel);
  for (const std::string& word : option_words(config.options, usual)) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace attnscope
