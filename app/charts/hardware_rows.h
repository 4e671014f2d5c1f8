#pragma once
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A figure of the GPU's own counters beside the emulator's count of the same events.
struct HardwareFigure {
  std::string name;
  std::string measured;    // "–": the chip does not have this counter
  std::string counted;     // empty: the emulator does not count it, or ran only a sample of the CTAs
  std::string difference;  // measured against counted: "equal", "+0.02 %"; empty: there is nothing to compare
};
// `counted` is null if nothing was counted.
std::vector<HardwareFigure> hardware_figures(const HardwareCounters& hardware, const Counters* counted);

}  // namespace attnscope::charts
