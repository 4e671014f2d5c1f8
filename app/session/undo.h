#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "session/shared.h"

namespace attnscope::session {

// One state of the knobs, with what came of it as far as it is known.
struct UndoState {
  Experiment experiment;
  std::string hash;
  Shared<Kernel> kernel;            // the version that the experiment names
  std::string change;               // the gesture that led here
  Shared<Observation> observation;  // empty: it never came to an end
  uint64_t run = 0;                 // of the history, that made the observation; 0: none did
};

// The states that Ctrl+Z and Ctrl+Y walk through: one for each gesture.
class UndoStack {
 public:
  static constexpr size_t kDepth = 1000;

  // A new state after the present one; what could be redone is gone. The states of one gesture are one: a push with the
  // gesture of the present state takes its place. Gesture 0 is never the same as another.
  void push(UndoState state, uint64_t gesture);
  // Keeps what came of the present state, if it is of that experiment.
  void keep(const std::string& hash, Shared<Observation> observation, uint64_t run);

  // Every state that kept `before` keeps `after`, which says more of the same run.
  void amend(const Shared<Observation>& before, const Shared<Observation>& after);

  bool can_undo() const { return at_ > 1; }
  bool can_redo() const { return at_ < states_.size(); }
  // Move, and return the state that is present now; null when there is none to move to.
  const UndoState* undo();
  const UndoState* redo();

 private:
  std::vector<UndoState> states_;
  size_t at_ = 0;  // states_[at_ - 1] is the present one; 0 none yet
  uint64_t gesture_ = 0;
};

}  // namespace attnscope::session
