#include "core/config.h"

#include "core/option_fields.h"

namespace attnscope {

Json to_json(const Config& config) { return Json{{"knobs", config.knobs}, {"options", write_fields(config.options)}}; }

Result<CompileOptions> compile_options_from_json(const Json& json, const std::string& where) {
  CompileOptions options;
  JsonReader read(json, where);
  read_fields_into(read, options);
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
