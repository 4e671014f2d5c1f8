#pragma once
#include <string>
#include <vector>

#include "core/json_fwd.h"

namespace attnscope::cli {

// One thing that the program can use, as this machine has it.
struct Checkup {
  enum class State { found, missing, waiting };
  std::string name;  // "NVRTC"
  State state = State::missing;
  std::string what;  // found: version and place; otherwise why not
  std::string cost;  // of its absence; empty when found
  std::string get;   // how to get it; empty when found
};

// Looks at the machine: display, driver, NVRTC and headers, nvdisasm, NVML, CUPTI, cuBLAS, confinement, caches. Starts
// nothing.
std::vector<Checkup> examine_machine();

// Greets this program's own worker and every worker that the settings name, all at once, for at most `seconds`.
std::vector<Checkup> examine_workers(int seconds);

std::string text_of(const std::vector<Checkup>& checkups);
Json json_of(const std::vector<Checkup>& checkups);

}  // namespace attnscope::cli
