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

// A run and when it ended, in seconds since the epoch.
struct DatedRun {
  std::shared_ptr<const Observation> run;
  double finished_at = 0;
};

// A ranked run: the newest of its experiment. It is correct, and no watch of the experiment found an error.
struct Leader {
  DatedRun of;
  size_t rank = 1;         // one more than the number of runs that are faster and can be told apart
  bool tie = false;        // another run has the same rank
  Standing against_first;  // this run as B against the first; the first one's own is a tie
  // Bounds of the ratio of its time to the first one's: from the ends of both intervals if measured, from the ratio's
  // bar if modelled.
  double ratio_low = 1, ratio_high = 1;
};

// Why a run is not ranked.
struct Unranked {
  DatedRun of;
  std::string why;  // as in files: "wrong", "race", "crash", "impossible"
  std::string reason;
  bool impossible = false;  // correct, but faster than the floor
};

// Runs of one operation and problem on one device, whose times can be compared.
struct Leaderboard {
  std::vector<Leader> leaders;     // fastest first
  std::vector<Unranked> unranked;  // the newest run of each experiment, oldest first
  std::vector<DatedRun> records;   // over time: each fully timed run of a ranked experiment that beat all earlier ones
  double floor_us = 0;             // no run can be faster (model/ceilings.h); 0: unknown
  const Observation& sample() const { return leaders.empty() ? *unranked.front().of.run : *leaders.front().of.run; }
};

// A row that another beats: it is slower, and told apart from the other.
struct Beaten {
  size_t row = 0;                       // in `leaders`
  double ratio = 1, low = 1, high = 1;  // of its time to the other's, with bounds as of a Leader
};
// The rows that the one at `row` beats, in order. The number of rows that beat a row is its rank less one.
std::vector<Beaten> beaten_by(const Leaderboard& board, size_t row);

// The device's limits and rates, if they are known.
using SpecOf = std::function<std::optional<DeviceSpec>(const Observation&)>;

// The leaderboards, ordered by the first run of each, with at most `most` leaders; 0: all. A correct run that is faster
// than the floor is impossible and not ranked, because its clock or its check is at fault. A run is also not ranked if
// any watch of its experiment found an error.
std::vector<Leaderboard> leaderboards(std::vector<DatedRun> runs, const SpecOf& spec_of, size_t most);

}  // namespace attnscope::charts
