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

// One value of one knob, the others standing as the config has them: what a control shows for it.
struct KnobChoice {
  std::string knob;
  int64_t value = 0;
  std::string text;     // label or digits
  bool chosen = false;  // the config has it
  bool is_default = false;
  bool legal = true;
  std::string
      reason;        // why it is not: "BLOCK_M=64: asks 57,376 B of static shared memory; a kernel may declare 49,152"
  std::string hint;  // the way out: "Set SHARED to dynamic."
  std::vector<std::string> warnings;  // legal, but expect this
};

// Every value of every knob, in the manifest's order. Restrictions are exact; limits are foretold from the launch and,
// where the manifest gives them, from its shared-memory expressions: registers are known only once compiled. `config`
// must be complete.
std::vector<KnobChoice> choices(const Kernel& kernel, const Problem& problem, const Config& config,
                                const DeviceSpec& spec);

// One knob whose change alone makes a config run.
struct WayOut {
  std::string knob;
  int64_t value = 0;
  std::string text;  // label or digits
};

// The one other knob, `except` left as it stands. A change that leaves the tiles as they are (the same shared memory,
// by another way) is best, then the one that gives up the least of it. Empty: no single knob helps.
std::optional<WayOut> way_out(const Kernel& kernel, const Problem& problem, const Config& config,
                              const DeviceSpec& spec, const std::string& except = "");

// The limits that can be foretold: threads, static and dynamic shared memory against `spec`. A Failure (Stage::limits)
// names what is asked and what the device gives, and in its hint the one knob or size that would help, where there is
// one.
Result<void> foretell_limits(const Kernel& kernel, const Problem& problem, const Config& config,
                             const DeviceSpec& spec);

}  // namespace attnscope::catalog
