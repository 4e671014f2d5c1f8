#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::catalog {

// A complete Config: the overrides over the kernel's defaults. An unknown knob or a value that the manifest does not
// list is a Failure (Stage::input) that names both: nothing else of a preset or command line ever reaches the compiler.
Result<Config> complete_config(const Kernel& kernel, const std::map<std::string, int64_t>& overrides,
                               const CompileOptions& options);

// "8", or "dynamic" where the value has that label. Digits alone are a number: "32 -DX" is refused.
Result<int64_t> knob_value(const Kernel& kernel, const Knob& knob, std::string_view text);

// "warp (2)": the label and the number, which are both taken; the number where the value has no label.
std::string full_text(const KnobValue& value);

// The command line's KNOB=VALUE.
Result<std::pair<std::string, int64_t>> parse_setting(const Kernel& kernel, std::string_view text);

// Whether the kernel takes this problem and config: the kind, "supports", "min_arch" (against `arch`, compute
// capability × 10; 0 leaves it out) and "requires". A refusal is a Failure (Stage::input) with the manifest's own
// reason.
Result<void> check_restrictions(const Kernel& kernel, const Problem& problem, const Config& config, int arch = 0);

// Whether a device has what the kernel is made of: a source to compile, or the library whose routine it is. A refusal
// is a Failure (Stage::device) that says what to install.
Result<void> check_runs(const Kernel& kernel, const DeviceSpec& device);

// The type that this config of the kernel accumulates in, "f32" or "f16": the manifest's word, or that of its knob.
std::string accumulate_of(const Kernel& kernel, const Config& config);

// What the manifest warns of for this config ("warns"), in its words. The config runs all the same.
Result<std::vector<std::string>> warnings(const Kernel& kernel, const Problem& problem, const Config& config);

}  // namespace attnscope::catalog
