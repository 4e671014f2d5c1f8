#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope {

// One value of one knob, with the rest of the experiment unchanged, and its observation. Or one config that may differ
// in any knobs: `knob` is then empty, and the value's text names the config.
struct ScanPoint {
  std::string knob;
  KnobValue value;
  bool current = false;                            // it is the held experiment's own value
  Config config;                                   // complete
  std::optional<Failure> refused;                  // refused by the manifest or a limit, before it runs
  std::vector<std::string> warnings;               // from the manifest
  std::shared_ptr<const Observation> observation;  // null: it has not finished
  // The point that was timed instead, because it has the same config, or the same machine code and launch.
  std::optional<size_t> same_as;

  bool ended() const { return refused || observation || same_as; }
};

// All values of one or more knobs, each with the other knobs as in the held experiment; or a list of configs of its
// kernel.
struct Scan {
  uint64_t id = 0;  // of the request
  Experiment held;
  std::vector<ScanPoint> points;   // knob by knob, in the manifest's order; configs as listed
  std::optional<Failure> failure;  // why there are no points
  bool ended_early = false;        // a person ended it: unfinished points stay unfinished
  size_t briefly = 0;              // of the unfinished points those with a brief time, which may run once more

  bool over() const;
  // The observation with the point's time, its own or that of `same_as`; null if there is none yet.
  const Observation* timed(size_t point) const;
  // True if the points are configs instead of knob values.
  bool of_config() const { return !points.empty() && points.front().knob.empty(); }
  // True if `draft` differs from the held experiment at most in that knob, so that the knob's points apply to it.
  bool holds(const std::string& knob, const Draft& draft) const;
  // The same, for any of the scan's knobs.
  bool holds(const Draft& draft) const;
};

}  // namespace attnscope
