#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "charts/standing.h"
#include "core/device_spec.h"
#include "core/observation.h"

namespace attnscope::charts {

// A run and when it ended, seconds since the epoch.
struct DatedRun {
  std::shared_ptr<const Observation> run;
  double finished_at = 0;
};

// The newest run of an experiment, which is correct, and no watch of that experiment found an error.
struct Leader {
  DatedRun of;
  size_t rank = 1;         // one more than the runs that beat it: told apart, and faster
  bool tie = false;        // another one has the same rank
  Standing against_first;  // as B; the first one's own is a tie
  // Of its time and the first one's: by the ends of both intervals if measured, the bar of the ratio if modelled.
  double ratio_low = 1, ratio_high = 1;
};

// Why a run is not ranked.
struct Unranked {
  DatedRun of;
  std::string why;  // as in files: "wrong", "race", "crash", "impossible"
  std::string reason;
  bool impossible = false;  // correct, and faster than the floor
};

// Runs of one operation and problem on one device, whose times can be compared.
struct Leaderboard {
  std::vector<Leader> leaders;     // the fastest first
  std::vector<Unranked> unranked;  // the newest run of each experiment, oldest first
  std::vector<DatedRun> records;   // over time: each fully timed run of a ranked experiment that beat all before it
  double floor_us = 0;             // no run can be faster (model/ceilings.h); 0: not known
  const Observation& sample() const { return leaders.empty() ? *unranked.front().of.run : *leaders.front().of.run; }
};

// The device's limits and rates, if they are known.
using SpecOf = std::function<std::optional<DeviceSpec>(const Observation&)>;

// In the order of the first run of each. At most `most` leaders each; 0: all. A correct run that is faster than the
// floor is impossible and not ranked: its clock or its check is at fault. Neither is one in whose experiment any watch
// found an error.
std::vector<Leaderboard> leaderboards(std::vector<DatedRun> runs, const SpecOf& spec_of, size_t most);

}  // namespace attnscope::charts
