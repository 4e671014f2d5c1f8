#pragma once
#include <string>
#include <vector>

#include "core/json_fwd.h"

namespace attnscope::cli {

// Something that the program can use, and its state on this machine.
struct Checkup {
  enum class State { found, missing, waiting };
  std::string name;  // "NVRTC"
  State state = State::missing;
  std::string what;  // if found, its version and place; otherwise the reason
  std::string cost;  // what its absence prevents; empty if found
  std::string get;   // how to get it; empty if found
};

// Examines display, driver, NVRTC and headers, nvcc, nvdisasm, NVML, CUPTI, cuBLAS, confinement and caches. Starts
// nothing but nvcc and its host compiler, for their versions.
std::vector<Checkup> examine_machine();

// Connects to this program's own worker and to every worker in the settings, all at once, for at most `seconds`.
std::vector<Checkup> examine_workers(int seconds);

std::string text_of(const std::vector<Checkup>& checkups);
Json json_of(const std::vector<Checkup>& checkups);

}  // namespace attnscope::cli
