#pragma once
#include <string>

#include "core/json_fwd.h"
#include "store/results.h"

namespace attnscope::cli {

// The GPU's name, or the id of another device.
const std::string& ran_on(const Observation& run);
// "tiled NUM_WARPS=8 maxrregcount=64"
std::string config_of(const Observation& run);
// Each compile option by its name.
Json options_json(const Config& config);

// One stored result for the terminal, as CSV and as a line of JSON. Dates are UTC.
std::string line_of(const store::StoredObservation& stored);
std::string csv_head();
std::string csv_line(const store::StoredObservation& stored);
std::string json_line(const store::StoredObservation& stored);

}  // namespace attnscope::cli
