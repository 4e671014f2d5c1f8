#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::protocol {

using Id = uint64_t;  // chosen by the client and unique among its requests; 0 is the worker's own

// A value for the member of an Observation with its type: a text is the device's id, a number the TFLOPS. An empty one
// clears the member. A Bound is set in the existing timing, because a later analysis of the kernel provides it.
using PartValue =
    std::variant<Versions, std::string, std::optional<VariantInfo>, std::optional<Occupancy>, std::optional<Verdict>,
                 std::optional<Timing>, std::optional<double>, std::optional<Counters>, std::vector<Finding>,
                 std::vector<LaunchFigures>, std::optional<WatchReport>, std::optional<Printed>,
                 std::optional<HardwareCounters>, std::optional<FragmentCycles>, std::optional<Failure>, Bound>;

// A stage's results for an experiment, streamed from a worker.
struct Part {
  static constexpr const char* kType = "part";
  Id id = 0;
  std::vector<PartValue> values;  // at most one of each type
  bool final = true;              // false: the part will be sent again with more
  bool operator==(const Part&) const = default;
};

// True if the part has a value for that member.
template <class M>
bool has(const Part& part, M Observation::*) {
  for (const PartValue& value : part.values)
    if (std::holds_alternative<M>(value)) return true;
  return false;
}

void apply_part(Observation& observation, const Part& part);

// An object with keys of an Observation, and "bound". Failures have Stage::protocol and name the first fault by its
// JSON pointer after "part". An unknown key is a fault.
Json to_json(const std::vector<PartValue>& values);
Result<std::vector<PartValue>> part_values_from_json(const Json& json);

}  // namespace attnscope::protocol
