#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "session/shared.h"

namespace attnscope::session {

// One state of the knobs, with its result if known.
struct UndoState {
  Experiment experiment;
  std::string hash;
  Shared<Kernel> kernel;            // the version that the experiment names
  std::string change;               // the gesture that led here
  Shared<Observation> observation;  // empty: it never ended
  uint64_t run = 0;                 // the run in the history that made the observation; 0: none
};

// The states that Ctrl+Z and Ctrl+Y walk through: one for each gesture.
class UndoStack {
 public:
  static constexpr size_t kDepth = 1000;

  // Adds a state after the present one and drops the states that could be redone. The states of one gesture are one: a
  // push with the gesture of the present state replaces it. Gesture 0 never equals another.
  void push(UndoState state, uint64_t gesture);
  // Keeps the result of the present state, if it belongs to that experiment.
  void keep(const std::string& hash, Shared<Observation> observation, uint64_t run);

  // Every state that kept `before` keeps `after` instead, which says more about the same run.
  void amend(const Shared<Observation>& before, const Shared<Observation>& after);

  bool can_undo() const { return at_ > 1; }
  bool can_redo() const { return at_ < states_.size(); }
  // Move and return the new present state; null if there is none to move to.
  const UndoState* undo();
  const UndoState* redo();

 private:
  std::vector<UndoState> states_;
  size_t at_ = 0;  // states_[at_ - 1] is the present one; 0 none yet
  uint64_t gesture_ = 0;
};

}  // namespace attnscope::session
