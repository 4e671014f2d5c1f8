#include "worker/progress_clock.h"

namespace attnscope::worker {

using protocol::Step;

void ProgressClock::on_progress(const protocol::Progress& progress) {
  if (progress.step != step_ || progress.done > done_) idle_ms_ = wall_ms_ = 0;
  step_ = progress.step;
  done_ = progress.done;
  total_ = progress.total;
}

int64_t ProgressClock::limit_ms() const {
  if (step_ == Step::watching) return deadlines_.emulated_ms;
  if (step_ == Step::emulating) return emulated_ ? deadlines_.emulated_ms : deadlines_.launch_ms;
  // There are only a few launches, and each counts as progress.
  if (step_ == Step::measuring) return deadlines_.launch_ms;
  return deadlines_.compile_ms;
}

std::string ProgressClock::where() const {
  std::string text(to_string(step_));
  if (step_ == Step::emulating && !emulated_) text = "running";
  if (total_ > 0) text += ", " + std::to_string(done_) + " of " + std::to_string(total_) + " CTAs";
  return text;
}

}  // namespace attnscope::worker
