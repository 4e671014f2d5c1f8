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

// How a config is run. `watch` returns an observation with a watch, or with the failure that prevented it; it is empty
// if nothing here can watch.
struct TuneRuns {
  using Run = std::function<Observation(const std::map<std::string, int64_t>& knobs)>;
  Run plain, watch;
};

// Searches for the fastest correct config of one kernel: one knob after the other takes each of its values while the
// others stay, until a whole pass improves nothing. Configs that the manifest warns of (a race, a wrong output) are not
// tried, because one lucky run proves nothing. Stage::input: no config tried is correct here, with the last one's
// reason. If there is a watch, a config that beats the best runs once more under it and is rejected if it finds an
// error.
Result<Tuned> tune(const Kernel& kernel, const Problem& problem, const TuneRuns& runs);

// Searches only these configs; knobs that one leaves out have the manifest's default.
Result<Tuned> best_of(const Kernel& kernel, const Problem& problem,
                      const std::vector<std::map<std::string, int64_t>>& configs, const TuneRuns& runs);

// The table's entry for the result.
report::TunedEntry entry_of(const Observation& best, std::string date);

}  // namespace attnscope::cli
