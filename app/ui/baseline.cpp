#include "ui/baseline.h"

#include <cmath>

namespace attnscope::ui {

using session::Part;
using session::PartState;

uint64_t find_pinned(const session::History& history, const std::optional<PinnedRun>& pinned) {
  if (!pinned) return 0;
  const session::HistoryEntry* nearest = nullptr;
  for (size_t at = 0; at < history.size; ++at) {
    const session::HistoryEntry& entry = history.at(at);
    if (entry.observation == nullptr || entry.observation->hash != pinned->hash) continue;
    const auto apart = [&](const session::HistoryEntry& one) { return std::abs(one.finished_at - pinned->at); };
    if (nearest == nullptr || apart(entry) < apart(*nearest)) nearest = &entry;
  }
  return nearest != nullptr ? nearest->id : 0;
}

PinnedRun pin_of(const session::HistoryEntry& entry) {
  return {entry.observation != nullptr ? entry.observation->hash : "", entry.finished_at};
}

std::string why_not_pinned(const session::HistoryEntry& entry) {
  const Observation* seen = entry.observation.get();
  return seen != nullptr && seen->timing && !seen->failure ? "" : "It has no time, so nothing can be compared with it.";
}

Baseline baseline_of(const session::Snapshot& snapshot, const Shown& shown, const charts::LatencyChart& latency,
                     const std::optional<PinnedRun>& pinned) {
  Baseline baseline;
  const uint64_t pinned_run = find_pinned(snapshot.history, pinned);
  baseline.pinned = pinned_run != 0;
  const std::optional<size_t> column = latency.column_of(shown.run);
  const bool kept = shown.state(Part::timing) == PartState::kept;  // the shown run is the one before the wanted one
  const size_t before = column ? *column + (kept ? 1 : 0) : latency.columns.size();
  static const Observation kNothing{};
  const Observation& b = shown.observation ? *shown.observation : kNothing;
  std::optional<size_t> at = charts::baseline_of(latency, before, b, pinned_run);
  if (kept && column && !baseline.pinned && latency.columns[*column].state == charts::ColumnState::timed) at = column;
  if (!at) return baseline;
  baseline.entry = &snapshot.history.at(*at);
  baseline.is_shown = !kept && column == at;
  const bool timed = column && shown.state(Part::timing) == PartState::fresh;
  if (timed) baseline.delta = charts::delta_of(latency, *column, pinned_run);
  const Observation* a = baseline.entry->observation.get();
  if (a != nullptr && !baseline.is_shown && charts::same_work(*a, b)) baseline.ghost = a;
  return baseline;
}

}  // namespace attnscope::ui
