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
  std::string a{};         // measured of A; empty: A was not read
};
// `counted` is null if nothing was counted, `a` if A was not read.
std::vector<HardwareFigure> hardware_figures(const HardwareCounters& hardware, const Counters* counted,
                                             const HardwareCounters* a = nullptr);
// The counters that a reading has; null if there was none, or it failed.
const HardwareCounters* read_counters(const Observation* reading);

// A line of the source in which a GPU's warps were sampled, beside what the model says of the same line.
struct SampleRow {
  std::string place;     // "02_tiled.cu:203"; "no line": the code's line is not known
  std::string share;     // "31.2 %" of the run's samples
  std::string modelled;  // "28.9 %" of the modelled time inside the kernel; "–": the model does not say
  std::string stall;     // what most of its waiting warps wait for, with their share of its samples; empty: none waits
  std::string a{};       // the share of A's samples at the same line; empty: A has no samples to compare
};
// Those of the findings with most samples, at most so many. `a`: the findings of A if it ran the same source; null:
// not.
std::vector<SampleRow> sample_rows(const std::vector<Finding>& findings, size_t most,
                                   const std::vector<Finding>* a = nullptr);
// How the sampling went, or why there are no samples; empty: the findings say nothing of it.
struct SamplesTaken {
  std::string words;
  bool refused = false;
};
SamplesTaken samples_taken(const std::vector<Finding>& findings);

}  // namespace attnscope::charts
