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

// Looks for the fastest correct config of one kernel: one knob after the other takes each of its values while the
// others stand, until a whole pass betters nothing. Configs that the manifest warns of (a race, a wrong output) are not
// tried: a lucky run of one proves nothing. `run` runs a config. Stage::input: no config that was tried is correct
// here, with the last one's reason.
Result<Tuned> tune(const Kernel& kernel, const Problem& problem,
                   const std::function<Observation(const std::map<std::string, int64_t>& knobs)>& run);

// Of these configs alone; knobs that one leaves out have the manifest's default.
Result<Tuned> best_of(const Kernel& kernel, const Problem& problem,
                      const std::vector<std::map<std::string, int64_t>>& configs,
                      const std::function<Observation(const std::map<std::string, int64_t>& knobs)>& run);

// The table's entry of what was found.
report::TunedEntry entry_of(const Observation& best, std::string date);

}  // namespace attnscope::cli
