#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/focus_state.h"
#include "session/resolve.h"
#include "session/undo.h"

namespace attnscope::session {

// The experiment that a person works on. FocusState holds its figures; FocusLane holds how it changes: the request that
// waits for a worker, gestures, undo, and the last request of each kernel. Pure.
class FocusLane : public FocusState {
 public:
  struct Request {
    Draft draft;
    Gesture gesture = {};
    bool device_is_wish = false;  // if the device is missing, another one may be used
    bool again = false;           // runs the experiment even if it has run already
  };
  // What the session does with a request.
  enum class Next {
    nothing,  // the experiment is running or has run
    wait,     // ends the current run and waits until a worker reports its devices
    show,     // ends the current run; there is nothing to run
    run       // runs the wanted experiment
  };

  Next ask(Request request, const Resolution& resolution);
  // Undo and redo show the kept observation. For an experiment that never finished they set `place` and return
  // Next::run.
  Next undo(const DeviceTable& devices, DeviceTable::Place& place) { return step_to(undo_.undo(), devices, place); }
  Next redo(const DeviceTable& devices, DeviceTable::Place& place) { return step_to(undo_.redo(), devices, place); }
  // Returns the request that waits for a worker and clears it.
  std::optional<Request> release() { return std::exchange(held_, std::nullopt); }

  // Ignores parts of jobs other than the wanted experiment's.
  void take_part(const protocol::Part& part);
  // Records `observation` as the result of the wanted experiment; `run` is its id in the history.
  void keep(const Shared<Observation>& observation, uint64_t run);
  void amend(const Shared<Observation>& before, const Shared<Observation>& after);
  void set_last_asked(LastAskedByKernel asked) { last_asked_ = share(std::move(asked)); }

  uint64_t gesture() const { return gesture_; }  // the gesture that led to the wanted experiment
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
  std::map<std::string, std::vector<CodeOwner>> code_owners_;  // configs seen so far, by code hash
};

}  // namespace attnscope::session
