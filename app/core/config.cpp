#include "core/config.h"

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

}  // namespace attnscope
