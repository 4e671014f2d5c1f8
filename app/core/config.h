#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/kernel.h"

namespace attnscope {

// Knob → value, complete and validated (catalog/validate.h makes one), and the compile options.
struct Config {
  std::map<std::string, int64_t> knobs;
  CompileOptions options;
  bool operator==(const Config&) const = default;
};

// "BLOCK_M=32 NUM_WARPS=4": the knobs in the kernel's order, labels where it has them.
std::string short_text(const Config& config, const Kernel& kernel);
// The same, followed by the compile options that differ from `usual`: "BLOCK_M=32 maxrregcount=64".
std::string short_text(const Config& config, const Kernel& kernel, const CompileOptions& usual);

}  // namespace attnscope
