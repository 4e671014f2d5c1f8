#pragma once
#include <optional>
#include <string>
#include <utility>

#include "lesson/progress.h"
#include "session/session.h"

namespace attnscope::ui {

struct Context;

// The open lesson and its runs, for the panel and the presenter.
class LessonDesk {
 public:
  void open(const lesson::Lesson& lesson);
  void close() { progress_.reset(); }
  const lesson::Progress* progress() const { return progress_ ? &*progress_ : nullptr; }  // null if no lesson is open

  // Each of these does nothing if the step's state does not allow it.
  void choose(size_t choice);  // answers the question; the step's run starts
  void run();                  // starts the step's run
  void next();
  void back();

  bool runs() const { return start_ || runs_; }        // the step's run was requested and has not ended
  const std::string& fault() const { return fault_; }  // why the step's run cannot start

  // Call once per frame: starts the requested run, and takes the wanted run's result and each later run of the
  // learner's own.
  void follow(Context& context);

 private:
  const Result<Draft>& draft_of(const Context& context, const lesson::Run& run);

  std::optional<lesson::Progress> progress_;
  bool start_ = false;  // the step's run starts in the next frame
  bool runs_ = false;
  std::string taken_;  // hash of the experiment that progress_ took last
  std::string fault_;
  // The run that was last completed to a draft, and the kernels used for it.
  std::optional<std::pair<const lesson::Run*, session::Shared<std::vector<Kernel>>>> drafted_;
  Result<Draft> draft_;
};

std::string words_of(const lesson::Run& run);  // "tiled with NUM_WARPS=8"

// The observation of the wanted experiment once it has ended: with its watch if `watch`, or with its refusal.
std::optional<Observation> settled(const session::Focus& focus, bool watch);

}  // namespace attnscope::ui
