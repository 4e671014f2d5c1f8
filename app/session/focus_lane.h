#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/focus_state.h"
#include "session/resolve.h"
#include "session/undo.h"

namespace attnscope::session {

// The one experiment that a person works on. FocusState holds its figures; this holds what leads from one experiment to
// the next: the request that waits for a worker, gestures, undo, and what each kernel was asked for last. Pure.
class FocusLane : public FocusState {
 public:
  struct Request {
    Draft draft;
    Gesture gesture = {};
    bool device_is_wish = false;  // another device will do
    bool again = false;           // it runs even if it has run
  };
  // What the session does about a request.
  enum class Next {
    nothing,  // the experiment runs or has run
    wait,     // until a worker says which devices it has; what ran is not asked for any more
    show,     // there is nothing to run; what ran is not asked for any more
    run       // the wanted experiment
  };

  Next ask(Request request, const Resolution& resolution);
  // Undo and redo show what was kept, and find a place for what never came to an end.
  Next undo(const DeviceTable& devices, DeviceTable::Place& place) { return step_to(undo_.undo(), devices, place); }
  Next redo(const DeviceTable& devices, DeviceTable::Place& place) { return step_to(undo_.redo(), devices, place); }
  // The request that waits, which then waits no more.
  std::optional<Request> release() { return std::exchange(held_, std::nullopt); }

  // Without effect on what is no job of the wanted experiment.
  void take_part(const protocol::Part& part);
  // The history holds what came of the wanted experiment as that run.
  void keep(const Shared<Observation>& observation, uint64_t run);
  void amend(const Shared<Observation>& before, const Shared<Observation>& after);
  void set_last_asked(LastAskedByKernel asked) { last_asked_ = share(std::move(asked)); }

  uint64_t gesture() const { return gesture_; }  // that the wanted experiment came from
  const Shared<LastAskedByKernel>& last_asked() const { return last_asked_; }
  bool can_undo() const { return undo_.can_undo(); }
  bool can_redo() const { return undo_.can_redo(); }

 private:
  struct CodeOwner {
    Experiment experiment;
    Shared<Kernel> kernel;
  };

  Next step_to(const UndoState* state, const DeviceTable& devices, DeviceTable::Place& place);
  void remember_asked();
  void note_same_code();

  std::optional<Request> held_;
  uint64_t gesture_ = 0;
  Shared<LastAskedByKernel> last_asked_ = share(LastAskedByKernel());
  UndoStack undo_;
  std::map<std::string, std::vector<CodeOwner>> code_owners_;  // configs seen, by code hash
};

}  // namespace attnscope::session
