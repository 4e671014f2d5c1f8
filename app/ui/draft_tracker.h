#pragma once
#include <deque>
#include <map>
#include <string>

#include "core/kernel.h"
#include "session/session.h"
#include "session/snapshot.h"

namespace attnscope::ui {

// What the controls show. Requests travel to the session and come back in a snapshot some frames later; until then the
// controls show what was asked, so that a knob never jumps back under the pointer.
class DraftTracker {
 public:
  // Call once a frame, before the controls are drawn.
  void observe(const session::Snapshot& snapshot);

  // What the controls show now; every knob of the kernel has a value.
  const session::Draft& current() const { return pending_.empty() ? seen_ : pending_.back(); }
  bool pending() const { return !pending_.empty(); }

  // The draft was handed to the session.
  void posted(session::Draft draft);

  // One more snapshot than this without an answer, and what was asked counts as refused.
  static constexpr int kPatience = 240;

 private:
  session::Draft seen_;
  std::string seen_hash_;
  std::deque<session::Draft> pending_;  // oldest first
  int unanswered_ = 0;                  // observed snapshots with a new version since the last posted draft
  uint64_t seen_version_ = 0;
};

session::Draft draft_of(const Experiment& experiment);
// Knobs that `draft` leaves out are not compared.
bool asks_for(const session::Draft& draft, const Experiment& experiment);

// `draft` moved to another kernel, with that kernel's own knobs and compile options: those it was asked for last
// (`kept`; null: never), as far as it still has them and all of them together run on `spec` (null: nothing is known of
// it); else its defaults. No knob of the kernel before is carried over. The problem stays where it is of that kernel's
// kind; else it is the one it was asked for last. Sizes that the kernel does not support are left for the session to
// refuse with the reason.
session::Draft with_kernel(session::Draft draft, const Kernel& kernel, const session::LastAsked* kept,
                           const DeviceSpec* spec);
// What that kernel was asked for last; null: it never was.
const session::LastAsked* last_asked(const session::Snapshot& snapshot, const std::string& kernel);

// Every knob and compile option as the kernel's manifest has it; and the problem that a draft of it starts from.
session::Draft with_own_knobs(session::Draft draft, const Kernel& kernel);
session::Draft with_own_problem(session::Draft draft, const Kernel& kernel);

// "NUM_WARPS 4 → 8", labels where the knob has them.
std::string change_text(const Knob& knob, int64_t from, int64_t to);

}  // namespace attnscope::ui
