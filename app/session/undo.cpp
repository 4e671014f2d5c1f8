#include "session/undo.h"

namespace attnscope::session {

void UndoStack::push(UndoState state, uint64_t gesture) {
  const bool replaces = gesture != 0 && gesture == gesture_ && at_ > 0;
  gesture_ = gesture;
  states_.resize(replaces ? at_ - 1 : at_);
  states_.push_back(std::move(state));
  if (states_.size() > kDepth) states_.erase(states_.begin());
  at_ = states_.size();
}

void UndoStack::keep(const std::string& hash, Shared<Observation> observation, uint64_t run) {
  if (at_ == 0 || states_[at_ - 1].hash != hash) return;
  states_[at_ - 1].observation = std::move(observation);
  states_[at_ - 1].run = run;
}

void UndoStack::amend(const Shared<Observation>& before, const Shared<Observation>& after) {
  for (UndoState& state : states_)
    if (state.observation == before) state.observation = after;
}

const UndoState* UndoStack::undo() {
  if (!can_undo()) return nullptr;
  gesture_ = 0;  // the next change is a gesture of its own
  return &states_[--at_ - 1];
}

const UndoState* UndoStack::redo() {
  if (!can_redo()) return nullptr;
  gesture_ = 0;
  return &states_[at_++];
}

}  // namespace attnscope::session
