#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/result.h"
#include "search/grid.h"

namespace attnscope::search {

// A recorded space: the result of each config.
struct Recorded {
  struct Run {
    std::optional<double> ms;                // empty: invalid
    std::optional<double> modelled_ms = {};  // a model's time, if the file has one
    double seconds = 0;                      // to compile, run and check
    double modelling_seconds = 0;            // of one core, for the model's time; 0: not recorded
  };
  std::vector<std::string> knobs;
  Grid grid;
  std::vector<Run> runs;  // for each point
};

// A config in a file of results. `where` is its place, for messages.
struct RecordedRow {
  const Json* configuration = nullptr;  // an object: knob to value
  Recorded::Run run;
  std::string where;
};
// The points are the rows, in their order. A Failure (Stage::input) for two rows with one config, or for a row that
// lacks a knob of another one, which is said of `configuration`, the part of a row's place that has its knobs.
Result<Recorded> recorded_of(const std::vector<RecordedRow>& rows, const std::string& configuration);

}  // namespace attnscope::search
