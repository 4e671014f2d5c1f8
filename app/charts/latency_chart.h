#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "charts/standing.h"
#include "core/headline.h"
#include "core/observation.h"

namespace attnscope::charts {

// One run of the history.
struct Run {
  uint64_t id = 0;
  std::shared_ptr<const Observation> observation;
  std::string change;       // the gesture that led to it: "NUM_WARPS 4 → 8"
  std::string config_text;  // "BLOCK_M=32 NUM_WARPS=8"
};

// A reported figure, drawn beside the plot. It is never a point of a series.
struct Reported {
  double us = 0;
  std::string label;         // "M32 W8 V4"
  std::string source;        // the quoted source, one sentence
  std::string caveat;        // why it is not a time of this code, or empty
  bool same_config = false;  // it reports exactly the shown config
};

enum class ColumnState { timed, untimed, failed };

inline constexpr size_t kMostSamples = 240;  // more than a column has pixels for

// One run's place on the x axis, which has the runs in order.
struct LatencyColumn {
  uint64_t run = 0;
  int x = 0;
  ColumnState state = ColumnState::untimed;
  FigureKind kind = FigureKind::modelled;
  double p10 = 0, p50 = 0, p90 = 0;            // us
  double interval_low = 0, interval_high = 0;  // us
  std::vector<float> samples;                  // us, in the order taken, at most kMostSamples; only for measured runs
  std::string change, config_text, kernel, device, problem;
  std::optional<Headline> headline;
  std::string failure;  // the name of the stage that failed; empty: none
  std::shared_ptr<const Observation> observation;
};

struct LatencyChart {
  std::vector<LatencyColumn> columns;  // oldest first
  // The column of that run; empty if there is none.
  std::optional<size_t> column_of(uint64_t run) const;
};

// Appends those of `runs` that `chart` does not have yet, so that a long history costs nothing per frame.
void append(LatencyChart& chart, std::span<const Run> runs);

// The baseline (A) of the run `b`, as an index into the columns; empty: none. `pinned` is the run that a person pinned
// as A; 0: none. Without a pin it is the last of the first `before` columns whose time is comparable with b's; if there
// is none, the last with a time.
std::optional<size_t> baseline_of(const LatencyChart& chart, size_t before, const Observation& b, uint64_t pinned);

// A run's time relative to its baseline's, and the name of the baseline.
struct Delta {
  std::string text;     // "−18.4 %", "a tie (+0.2 %)", "the same", "not comparable"
  std::string against;  // "against run 3", "against run 3, minimal"; "with run 3: another problem"
  std::string detail;   // both figures, or what differs
  Standing standing;
  uint64_t run = 0;  // of the baseline, A
};
// Empty if the column at `index` has no time, has no baseline, or is its own baseline.
std::optional<Delta> delta_of(const LatencyChart& chart, size_t index, uint64_t pinned = 0);

// Positions for labels of one height so that none overlap, each as near as possible to its wish and in the order of the
// wishes, all within [low, high] if there is room. Positions are in pixels, downwards, in the order of `wishes`.
std::vector<float> spread_labels(std::span<const float> wishes, float height, float low, float high);

// A round upper end, at least `value`, for an axis that starts at 0: 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a
// power of ten. Returns 1 if `value` is not a positive number.
double nice_top(double value);

}  // namespace attnscope::charts
