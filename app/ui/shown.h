#pragma once
#include <memory>
#include <string>

#include "session/snapshot.h"

namespace attnscope::ui {

// What the readouts show: the focus, or an entry chosen in the history.
struct Shown {
  std::shared_ptr<const Observation> observation;  // may be null
  uint64_t history_id = 0;                         // not 0: chosen in the history
  uint64_t run = 0;  // id of the run whose figures are shown, chosen or live; 0: not in the history
  const session::Focus* focus = nullptr;
  std::string config_text;   // every knob
  std::string config_words;  // the kernel, and how its config differs from the defaults

  bool from_history() const { return history_id != 0; }
  session::PartState state(session::Part part) const;
  // Names the experiment that an older part belongs to; empty if it is the requested one.
  std::string from(session::Part part) const;
  const Failure* failure() const;
  bool running() const { return !from_history() && focus != nullptr && focus->running; }

  const VariantInfo* variant() const { return part(observation ? &observation->variant : nullptr); }
  const Occupancy* occupancy() const { return part(observation ? &observation->occupancy : nullptr); }
  const Verdict* verdict() const { return part(observation ? &observation->verdict : nullptr); }
  const Timing* timing() const { return part(observation ? &observation->timing : nullptr); }
  const Counters* counters() const { return part(observation ? &observation->counters : nullptr); }

 private:
  template <class T>
  static const T* part(const std::optional<T>* slot) {
    return slot != nullptr && slot->has_value() ? &**slot : nullptr;
  }
};

Shown shown_of(const session::Snapshot& snapshot);

// What the first busy worker does: "emulating tiled, 123 of 128 CTAs"; empty if none is busy.
std::string busy_words(const session::Snapshot& snapshot);

// The readout that reports a failure in `stage`.
enum class Readout { experiment, memory, error, latency };
Readout readout_of(Stage stage);
// The stage's failure as a title for the user: "Does not fit".
const char* words_of(Stage stage);
// True if the same experiment may succeed when it is repeated.
bool may_run_again(Stage stage);

}  // namespace attnscope::ui
