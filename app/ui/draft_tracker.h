#pragma once
#include <deque>
#include <map>
#include <string>

#include "core/kernel.h"
#include "session/session.h"
#include "session/snapshot.h"

namespace attnscope::ui {

// The draft that the controls show. A request travels to the session and returns in a snapshot some frames later; until
// then the controls show the requested values, so that a knob never jumps back under the pointer.
class DraftTracker {
 public:
  // Call once per frame, before the controls are drawn.
  void observe(const session::Snapshot& snapshot);

  // The draft that the controls show now. Every knob of the kernel has a value.
  const Draft& current() const { return pending_.empty() ? seen_ : pending_.back(); }
  bool pending() const { return !pending_.empty(); }

  // Call when the draft was passed to the session.
  void posted(Draft draft);

  // A request counts as refused after more snapshots than this without an answer.
  static constexpr int kPatience = 240;

 private:
  Draft seen_;
  std::string seen_hash_;
  std::deque<Draft> pending_;  // oldest first
  int unanswered_ = 0;         // observed snapshots with a new version since the last posted draft
  uint64_t seen_version_ = 0;
};

// True if the experiment is what `draft` asks for. Knobs that `draft` leaves out are not compared.
bool asks_for(Draft draft, const Experiment& experiment);

// `draft` moved to another kernel, with that kernel's own knobs and compile options: those last requested for it
// (`kept`; null: never), if the kernel still has them and they run together on `spec` (null: unknown device); otherwise
// its defaults. No knob of the previous kernel is carried over. The problem stays if it is of the kernel's kind;
// otherwise it is the last one requested for the kernel. The session refuses sizes that the kernel does not support and
// gives the reason.
Draft with_kernel(Draft draft, const Kernel& kernel, const Draft* kept, const DeviceSpec* spec);
// The last request for that kernel; null if there is none.
const Draft* last_asked(const session::Snapshot& snapshot, const std::string& kernel);

// `draft` with every knob and compile option at the manifest's default, and the kernel's default problem.
Draft with_own_knobs(Draft draft, const Kernel& kernel);
Draft with_own_problem(Draft draft, const Kernel& kernel);

// "NUM_WARPS 4 → 8", with labels if the knob has them.
std::string change_text(const Knob& knob, int64_t from, int64_t to);

}  // namespace attnscope::ui
