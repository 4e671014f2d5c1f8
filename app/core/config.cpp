#include "core/config.h"

#include "core/json.h"

namespace attnscope {

Json to_json(const Config& config) {
  return Json{{"knobs", config.knobs},
              {"options",
               {{"fast_math", config.options.fast_math},
                {"fmad", config.options.fmad},
                {"maxrregcount", config.options.maxrregcount}}}};
}

Result<CompileOptions> compile_options_from_json(const Json& json, const std::string& where) {
  CompileOptions options;
  JsonReader read(json, where);
  read.boolean("fast_math", options.fast_math);
  read.boolean("fmad", options.fmad);
  read.integer("maxrregcount", options.maxrregcount, 0, 255);
  if (auto done = read.finish(); !done) return fail(done.error());
  return options;
}

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
