#pragma once
#include <functional>
#include <string>

#include "core/kernel.h"
#include "core/observation.h"
#include "report/tuned.h"

namespace attnscope::cli {

struct Tuned {
  Observation best;  // correct and timed
  int64_t tried = 0;
};

// How a config is run. `watch` brings an observation with a watch, or with the failure that kept it from one; empty:
// nothing here can watch.
struct TuneRuns {
  using Run = std::function<Observation(const std::map<std::string, int64_t>& knobs)>;
  Run plain, watch;
};

// Looks for the fastest correct config of one kernel: one knob after the other takes each of its values while the
// others stand, until a whole pass betters nothing. Configs that the manifest warns of (a race, a wrong output) are not
// tried: a lucky run of one proves nothing. Stage::input: no config that was tried is correct
// here, with the last one's reason. A config that betters the best is run once more under the watch, where there is
// one, and is passed over if the watch finds an error.
Result<Tuned> tune(const Kernel& kernel, const Problem& problem, const TuneRuns& runs);

// Of these configs alone; knobs that one leaves out have the manifest's default.
Result<Tuned> best_of(const Kernel& kernel, const Problem& problem,
                      const std::vector<std::map<std::string, int64_t>>& configs, const TuneRuns& runs);

// The table's entry of what was found.
report::TunedEntry entry_of(const Observation& best, std::string date);

}  // namespace attnscope::cli
