#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "session/shared.h"

namespace attnscope::session {

// One state of the knobs, with its result if there is one.
struct UndoState {
  Experiment experiment;
  std::string hash;
  Shared<Kernel> kernel;            // the version that the experiment names
  std::string change;               // the gesture that led here
  Shared<Observation> observation;  // empty: the experiment never ended
  uint64_t run = 0;                 // id in the history of the observation's run; 0: none
};

// The states that Ctrl+Z and Ctrl+Y step through, one for each gesture.
class UndoStack {
 public:
  static constexpr size_t kDepth = 1000;

  // Adds a state after the present one and drops the states that redo would reach. A state with the present state's
  // gesture replaces the present state, so that a gesture leaves one. Gesture 0 never equals another.
  void push(UndoState state, uint64_t gesture);
  // Stores the result of the present state, if its experiment has that hash.
  void keep(const std::string& hash, Shared<Observation> observation, uint64_t run);

  // Replaces `before` by `after`, which says more about the same run, in every state.
  void amend(const Shared<Observation>& before, const Shared<Observation>& after);

  bool can_undo() const { return at_ > 1; }
  bool can_redo() const { return at_ < states_.size(); }
  // Move, and return the new present state; null if there is no state to move to.
  const UndoState* undo();
  const UndoState* redo();

 private:
  std::vector<UndoState> states_;
  size_t at_ = 0;  // states_[at_ - 1] is the present one; 0: none yet
  uint64_t gesture_ = 0;
};

}  // namespace attnscope::session
