#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "charts/latency_chart.h"
#include "ui/settings.h"
#include "ui/shown.h"

namespace attnscope::ui {

// The run (A) that everything shown (B) is compared with.
struct Baseline {
  const session::HistoryEntry* entry = nullptr;  // A; null if there is none
  bool pinned = false;                           // a person chose it
  bool is_shown = false;                         // A is the shown run itself
  std::optional<charts::Delta> delta;            // B's time against A's; empty until B has its time, or if it is A
  // A's figures, to show beside B's. Null if A is the shown run, or belongs to another operation, problem or device.
  const Observation* ghost = nullptr;

  uint64_t run() const { return entry != nullptr ? entry->id : 0; }
};

// A is the pinned run, otherwise the comparable run before the shown one. Until the wanted experiment has a time, the
// shown run is the one whose figures are still on the screen. `latency` has the snapshot's history.
Baseline baseline_of(const session::Snapshot& snapshot, const Shown& shown, const charts::LatencyChart& latency,
                     const std::optional<PinnedRun>& pinned);

// The id in the history of the pinned run; 0: none.
uint64_t find_pinned(const session::History& history, const std::optional<PinnedRun>& pinned);

PinnedRun pin_of(const session::HistoryEntry& entry);
// Why that run cannot be A; empty if it can.
std::string why_not_pinned(const session::HistoryEntry& entry);

}  // namespace attnscope::ui
