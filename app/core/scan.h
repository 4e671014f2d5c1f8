#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"

namespace attnscope {

// One value of one knob, with everything else of an experiment held, and what came of it. Or a config that differs in
// any number of knobs: `knob` is empty then, and the value's text names the config.
struct ScanPoint {
  std::string knob;
  KnobValue value;
  bool current = false;                            // the held experiment has this value
  Config config;                                   // complete
  std::optional<Failure> refused;                  // by the manifest or a limit, before it runs
  std::vector<std::string> warnings;               // the manifest's
  std::shared_ptr<const Observation> observation;  // null: it has not ended
  // The point that was timed in its place: it has the same config, or the same machine code and launch.
  std::optional<size_t> same_as;

  bool ended() const { return refused || observation || same_as; }
};

// All values of one or more knobs, each with the others as the held experiment has them; or a list of configs of its
// kernel.
struct Scan {
  uint64_t id = 0;  // of the request
  Experiment held;
  std::vector<ScanPoint> points;   // knob by knob, in the manifest's order; configs as listed
  std::optional<Failure> failure;  // why there are no points
  bool ended_early = false;        // a person ended it: points that had not ended never will

  bool over() const;
  // The observation with the point's time, its own or that of `same_as`; null: none yet.
  const Observation* timed(size_t point) const;
  // It is one config or more instead of knobs' values.
  bool of_config() const { return !points.empty() && points.front().knob.empty(); }
  // Whether `draft` differs from the held experiment in that knob only, so that the knob's points are its own values.
  bool holds(const std::string& knob, const Draft& draft) const;
  // The same for any of its knobs.
  bool holds(const Draft& draft) const;
};

}  // namespace attnscope
