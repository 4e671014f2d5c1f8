#include "session/restore.h"

#include <map>

#include "core/config.h"
#include "core/joined.h"
#include "session/naming.h"

namespace attnscope::session {
namespace {

// True if `later` is the same run with its watch.
bool adds_a_watch(const Observation& run, const Observation& later) {
  const auto median = [](const Observation& o) { return o.timing ? o.timing->p50 : 0; };
  return !run.watch && later.watch && !run.failure && median(run) == median(later);
}

// If the kernel no longer exists, the stored knobs are listed.
std::string config_text(const Config& config, const Kernel* kernel) {
  if (kernel) return short_text(config, *kernel);
  const auto text = [](const auto& knob) { return knob.first + "=" + std::to_string(knob.second); };
  return joined(config.knobs, text, " ");
}

}  // namespace

std::vector<HistoryEntry> restored_history(std::vector<store::StoredObservation> rows, const KernelShelf& shelf) {
  std::vector<HistoryEntry> entries;
  std::map<std::string, size_t> last_of;  // hash → index of the experiment's last entry
  for (store::StoredObservation& row : rows) {
    auto observation = share(std::move(row.observation));
    const auto earlier = last_of.find(observation->hash);
    if (earlier != last_of.end() && adds_a_watch(*entries[earlier->second].observation, *observation)) {
      entries[earlier->second].observation = std::move(observation);
      continue;
    }
    const Experiment& experiment = observation->experiment;
    const auto kernel = shelf.find(experiment.kernel);
    HistoryEntry entry;
    if (!entries.empty()) entry.change = step_text(entries.back().observation->experiment, experiment, kernel.get());
    entry.config_text = config_text(experiment.config, kernel.get());
    entry.finished_at = row.finished_at;
    last_of[observation->hash] = entries.size();
    entry.observation = std::move(observation);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace attnscope::session
