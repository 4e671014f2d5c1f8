#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ui/app.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"

namespace attnscope::ui {

// The window without a display, for pictures and films: its content in a framebuffer, in the default layout.
class Studio {
 public:
  // Failure: OpenGL does not work without a display.
  static Result<std::unique_ptr<Studio>> open(session::Session& session, ShotSize size, const ShotOptions& options);

  Workbench& bench() { return *bench_; }
  // Draws one frame, with pixels if `rasterise`. `within` runs where a key press or a click would.
  void frame(bool rasterise, const std::function<void()>& within = {});
  // Draws frames until everything is in its final place: windows get their size in one frame and draw in the next.
  void settle_frames();
  std::vector<uint8_t> pixels() const { return screen_->pixels(); }

  // From this call on, settled() must become true within the options' patience.
  void start_waiting();
  // Sleeps for a moment. Failure (Stage::deadline) when patience has run out.
  Result<void> wait_on();

 private:
  Studio() = default;

  int patience_ms_ = 0;
  double deadline_ms_ = 0;
  std::unique_ptr<Offscreen> screen_;
  std::unique_ptr<Workbench> bench_;  // destroyed before the context that it draws in
};

// Opens the lesson. A Failure (Stage::input) lists the existing ones if the lesson or step does not exist.
Result<void> begin_step(Workbench& bench, const ShotStep& wanted);
// Advances by one towards the wanted step, choosing first answers. Returns true when it is reached in the wanted state.
Result<bool> lead(LessonDesk& desk, const ShotStep& wanted);

}  // namespace attnscope::ui
