#pragma once
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A figure of the GPU's own counters beside the emulator's count of the same.
struct HardwareFigure {
  std::string name;
  std::string measured;    // "–": the chip does not have it
  std::string counted;     // empty: the emulator does not count it, or ran only a sample of the CTAs
  std::string difference;  // "equal", "+0.02 %": the measured figure against the counted one; empty: nothing to compare
};
// `counted`: null if nothing was counted.
std::vector<HardwareFigure> hardware_figures(const HardwareCounters& hardware, const Counters* counted);

}  // namespace attnscope::charts
