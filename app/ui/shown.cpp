#include "ui/shown.h"

#include "charts/words.h"

namespace attnscope::ui {

using session::Part;
using session::PartState;

PartState Shown::state(Part wanted) const {
  if (!from_history()) return focus == nullptr ? PartState::none : focus->parts[static_cast<int>(wanted)];
  if (!observation) return PartState::none;
  bool there = false;
  switch (wanted) {
    case Part::variant:
      there = observation->variant.has_value();
      break;
    case Part::occupancy:
      there = observation->occupancy.has_value();
      break;
    case Part::counters:
      there = observation->counters.has_value();
      break;
    case Part::verdict:
      there = observation->verdict.has_value();
      break;
    case Part::timing:
      there = observation->timing.has_value();
      break;
  }
  if (there) return PartState::fresh;
  return observation->failure ? PartState::failed : PartState::none;
}

std::string Shown::from(Part wanted) const {
  if (from_history() || focus == nullptr) return {};
  return state(wanted) == PartState::kept || state(wanted) == PartState::failed
             ? focus->part_from[static_cast<int>(wanted)]
             : std::string();
}

const Failure* Shown::failure() const {
  if (from_history()) return observation && observation->failure ? &*observation->failure : nullptr;
  return focus != nullptr && focus->failure ? &*focus->failure : nullptr;
}

std::string busy_words(const session::Snapshot& snapshot) {
  for (const session::WorkerStatus& worker : snapshot.workers)
    if (worker.state == session::WorkerState::busy && !worker.detail.empty()) return worker.detail;
  return {};
}

Shown shown_of(const session::Snapshot& snapshot) {
  Shown shown;
  shown.focus = &snapshot.focus;
  shown.observation = snapshot.focus.shown;
  shown.run = snapshot.focus.run;
  if (snapshot.selected) {
    shown.run = shown.history_id = snapshot.selected->id;
    shown.observation = snapshot.selected->observation;
    shown.config_text = snapshot.selected->config_text;
    if (shown.observation) {
      const Experiment& picked = shown.observation->experiment;
      shown.config_words =
          charts::config_words(picked, session::find_kernel(snapshot, picked.kernel), shown.config_text);
    }
    return shown;
  }
  const Experiment& wanted = snapshot.focus.wanted;
  const Kernel* kernel = session::find_kernel(snapshot, wanted.kernel);
  if (kernel != nullptr) shown.config_text = short_text(wanted.config, *kernel);
  shown.config_words = charts::config_words(wanted, kernel, shown.config_text);
  return shown;
}

Readout readout_of(Stage stage) {
  switch (stage) {
    case Stage::input:
    case Stage::catalog:
    case Stage::device:
      return Readout::experiment;
    case Stage::compile:
    case Stage::limits:
      return Readout::memory;
    case Stage::launch:
    case Stage::check:
      return Readout::error;
    case Stage::decode:
    case Stage::deadline:
    case Stage::crash:
    case Stage::cancelled:
    case Stage::store:
    case Stage::protocol:
    case Stage::internal:
      return Readout::latency;
  }
  return Readout::latency;
}

const char* words_of(Stage stage) {
  switch (stage) {
    case Stage::input:
      return "Invalid request";
    case Stage::catalog:
      return "Kernel did not load";
    case Stage::compile:
      return "Does not compile";
    case Stage::limits:
      return "Does not fit";
    case Stage::device:
      return "No device for it";
    case Stage::decode:
      return "Cannot be emulated";
    case Stage::launch:
      return "Failed while running";
    case Stage::deadline:
      return "Did not end in time";
    case Stage::crash:
      return "The worker is gone";
    case Stage::cancelled:
      return "Cancelled";
    case Stage::check:
      return "Could not be checked";
    case Stage::store:
      return "Could not be read or saved";
    case Stage::protocol:
    case Stage::internal:
      return "A bug in attnscope";
  }
  return "Failed";
}

bool may_run_again(Stage stage) {
  return stage == Stage::crash || stage == Stage::deadline || stage == Stage::cancelled || stage == Stage::device ||
         stage == Stage::launch;
}

}  // namespace attnscope::ui
