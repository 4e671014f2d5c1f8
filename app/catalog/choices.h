#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catalog/launch.h"
#include "core/config.h"
#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace attnscope::catalog {

// One value of one knob, with the other knobs as in the config; the content of a control.
struct KnobChoice {
  std::string knob;
  int64_t value = 0;
  std::string text;     // label or digits
  bool chosen = false;  // the config has this value
  bool is_default = false;
  bool legal = true;
  // Why it is not legal: "BLOCK_M=64: asks 57,376 B of static shared memory; a kernel may declare 49,152"
  std::string reason;
  std::string hint;                   // a way out: "Set SHARED to dynamic."
  std::vector<std::string> warnings;  // warnings about a legal value
};

// Every value of every knob, in the manifest's order. Restrictions are exact. Limits are predicted from the launch and,
// if the manifest has them, from its shared-memory expressions; registers are known only after compiling. `config` must
// be complete.
std::vector<KnobChoice> choices(const Kernel& kernel, const Problem& problem, const Config& config,
                                const DeviceSpec& spec);

// A single knob change that makes a config run.
struct WayOut {
  std::string knob;
  int64_t value = 0;
  std::string text;  // label or digits
};

// The other knob whose change helps; `except` must not change. Prefers a change that keeps the tiles (the same shared
// memory in another way), then the one that gives up the least shared memory. Empty: no single knob helps.
std::optional<WayOut> way_out(const Kernel& kernel, const Problem& problem, const Config& config,
                              const DeviceSpec& spec, const std::string& except = "");

// Checks the limits that can be predicted: threads, and static and dynamic shared memory against `spec`. The Failure
// (Stage::limits) says what the kernel asks for and what the device gives; its hint names a single knob or size that
// would help, if there is one.
Result<void> foretell_limits(const Kernel& kernel, const Problem& problem, const Config& config,
                             const DeviceSpec& spec);

// Checks whether a config can run there, as far as that is known before compiling: check_restrictions(), then
// foretell_limits().
Result<void> check_config(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec);

}  // namespace attnscope::catalog
