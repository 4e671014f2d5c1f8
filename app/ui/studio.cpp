#include "ui/studio.h"

#include <chrono>
#include <thread>

#include "platform/clock.h"

namespace attnscope::ui {
namespace {

constexpr int kPollMs = 8;
constexpr int kLastFrames = 6;

Failure cannot_go(const ShotStep& wanted, const std::string& why, const std::string& hint) {
  return {Stage::input, "lesson " + wanted.lesson + why, hint};
}

}  // namespace

Result<std::unique_ptr<Studio>> Studio::open(session::Session& session, ShotSize size, const ShotOptions& options) {
  Result<std::unique_ptr<Offscreen>> made = Offscreen::create(size, options.resources);
  if (!made) return fail(made.error());
  std::unique_ptr<Studio> studio(new Studio());
  studio->patience_ms_ = options.patience_ms;
  studio->screen_ = std::move(*made);
  WorkbenchOptions bench_options;
  bench_options.resources = options.resources;
  bench_options.own_lessons = options.own_lessons;
  bench_options.keep_settings = false;
  studio->bench_ = std::make_unique<Workbench>(session, std::move(bench_options));
  Workbench& bench = *studio->bench_;
  bench.ignore_kept_settings();
  bench.settings().theme = theme_of(!options.light, options.contrast);
  bench.settings().zoom = options.zoom;
  return studio;
}

void Studio::frame(bool rasterise, const std::function<void()>& within) {
  bench_->before_frame();
  screen_->begin_frame();
  if (within) within();
  bench_->draw();
  screen_->end_frame(rasterise);
}

void Studio::settle_frames() {
  for (int last = 0; last < kLastFrames; ++last) frame(last + 1 == kLastFrames || last == 0);
}

void Studio::start_waiting() { deadline_ms_ = platform::steady_ms() + patience_ms_; }

Result<void> Studio::wait_on() {
  if (platform::steady_ms() > deadline_ms_)
    return fail(Stage::deadline,
                "The experiment and its map were not complete after " + std::to_string(patience_ms_ / 1000) + " s",
                "Choose a smaller problem, or a sampled one.");
  std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
  return {};
}

Result<void> begin_step(Workbench& bench, const ShotStep& wanted) {
  if (auto opened = bench.open_lesson(wanted.lesson); !opened) return opened;
  const size_t steps = bench.lesson().progress()->lesson().steps.size();
  if (wanted.step < 1 || wanted.step > steps)
    return fail(cannot_go(wanted, " has no step " + std::to_string(wanted.step),
                          "It has " + std::to_string(steps) + " steps."));
  return {};
}

Result<bool> lead(LessonDesk& desk, const ShotStep& wanted) {
  using State = lesson::Progress::State;
  const lesson::Progress& progress = *desk.progress();
  const bool there = progress.at() + 1 == wanted.step;
  if (!desk.fault().empty()) return fail(cannot_go(wanted, ": " + desk.fault(), "`attnscope lesson check` says more."));
  switch (progress.state()) {
    case State::asks: {
      if (there && !wanted.answer) return true;
      const size_t choices = progress.step().predict->choices.size(), answer = there ? *wanted.answer : 1;
      if (answer < 1 || answer > choices)
        return fail(cannot_go(wanted, " has no answer " + std::to_string(answer) + " at that step",
                              "Its question has " + std::to_string(choices) + " answers."));
      desk.choose(answer - 1);
      return false;
    }
    case State::waits:
      desk.run();
      return false;
    case State::told:
    case State::practises:
      if (!there) desk.next();
      return there;
  }
  return true;
}

}  // namespace attnscope::ui
