#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ui/app.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"

namespace attnscope::ui {

// The window without a display, for pictures and films: its content in a framebuffer, at the default layout.
class Studio {
 public:
  // A Failure: no OpenGL without a display.
  static Result<std::unique_ptr<Studio>> open(session::Session& session, ShotSize size, const ShotOptions& options);

  Workbench& bench() { return *bench_; }
  // Draws one frame; rasterise: with its pixels. `within` runs where a key or a click would.
  void frame(bool rasterise, const std::function<void()>& within = {});
  // The frames after which everything is where it stays: windows get their size in one and draw in the next.
  void settle_frames();
  std::vector<uint8_t> pixels() const { return screen_->pixels(); }

  // From now on settled() must come true within the options' patience.
  void start_waiting();
  // Sleeps for a moment; a Failure (Stage::deadline) once patience has run out.
  Result<void> wait_on();

 private:
  Studio() = default;

  int patience_ms_ = 0;
  double deadline_ms_ = 0;
  std::unique_ptr<Offscreen> screen_;
  std::unique_ptr<Workbench> bench_;  // goes before the context that it draws in
};

// Opens the lesson; a Failure (Stage::input) names what there is where lesson or step does not exist.
Result<void> begin_step(Workbench& bench, const ShotStep& wanted);
// Goes on by one towards the wanted step, with first answers. True: it is there, as far as it is wanted.
Result<bool> lead(LessonDesk& desk, const ShotStep& wanted);

}  // namespace attnscope::ui
