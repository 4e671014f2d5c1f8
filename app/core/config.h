#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/json_fwd.h"
#include "core/kernel.h"
#include "core/result.h"

namespace attnscope {

// knob → value, complete and validated (catalog/validate.h makes one), and the compile options.
struct Config {
  std::map<std::string, int64_t> knobs;
  CompileOptions options;
  bool operator==(const Config&) const = default;
};

Json to_json(const Config& config);
Result<CompileOptions> compile_options_from_json(const Json& json, const std::string& where);
// "BLOCK_M=32 NUM_WARPS=4": the knobs in the kernel's order, labels where it has them.
std::string short_text(const Config& config, const Kernel& kernel);

}  // namespace attnscope
