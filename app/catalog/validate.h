#pragma once
#include <cstdint>
#include <map>
#include <optional>
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

// A complete Config: the kernel's defaults with the overrides. An unknown knob or a value that the manifest does not
// list is a Failure (Stage::input) that names both. Nothing else from a preset or command line reaches the compiler.
Result<Config> complete_config(const Kernel& kernel, const std::map<std::string, int64_t>& overrides,
                               const CompileOptions& options);

// Accepts "8", or "dynamic" if the value has that label. Digits are read as a number; "32 -DX" is refused.
Result<int64_t> knob_value(const Kernel& kernel, const Knob& knob, std::string_view text);

// "warp (2)": the label and the number, both of which are accepted; only the number if the value has no label.
std::string full_text(const KnobValue& value);

// Parses KNOB=VALUE of the command line.
Result<std::pair<std::string, int64_t>> parse_setting(const Kernel& kernel, std::string_view text);

// Checks whether the kernel accepts this problem and config: the kind, "supports", "min_arch" (against `arch`, compute
// capability × 10; 0 skips it) and "requires". A refusal is a Failure (Stage::input) with the reason from the manifest.
Result<void> check_restrictions(const Kernel& kernel, const Problem& problem, const Config& config, int arch = 0);

// Checks whether a device can run the kernel: it can compile a source, or has the library of the routine. A refusal is
// a Failure (Stage::device) that says what to install.
Result<void> check_runs(const Kernel& kernel, const DeviceSpec& device);

// The type in which this config accumulates: from the manifest, or from the knob that it names.
Result<Accumulate> accumulate_of(const Kernel& kernel, const Config& config);

// How many of the problem's products this config makes on Tensor Cores, by the manifest's "tensor_products"; empty if
// it does not say. An expression that does not evaluate is a Failure (Stage::catalog).
Result<std::optional<int64_t>> tensor_products_of(const Kernel& kernel, const Problem& problem, const Config& config);

// The manifest's warnings for this config ("warns"), as written. The config still runs.
Result<std::vector<std::string>> warnings(const Kernel& kernel, const Problem& problem, const Config& config);

}  // namespace attnscope::catalog
