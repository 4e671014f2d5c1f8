#include <stb_image_write.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "platform/clock.h"
#include "platform/output_file.h"
#include "ui/app.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"

namespace attnscope::ui {
namespace {

constexpr int kPollMs = 8;
constexpr int kLastFrames = 6;  // after everything is loaded: windows get their size in one frame and draw in the next

void append_bytes(void* out, void* bytes, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

Result<void> write_png(const std::filesystem::path& file, ShotSize size, const std::vector<uint8_t>& rgb) {
  std::string png;
  if (stbi_write_png_to_func(append_bytes, &png, size.width, size.height, 3, rgb.data(), size.width * 3) == 0)
    return fail(Stage::internal, file.string() + ": the picture cannot be encoded", "Please report it.");
  return platform::write_output(file, png);
}

Failure cannot_go(const ShotStep& wanted, const std::string& why, const std::string& hint) {
  return {Stage::input, "lesson " + wanted.lesson + why, hint};
}

// Goes on by one towards the wanted step. True: it is there, as far as it is wanted.
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

Result<void> begin_step(Workbench& bench, const ShotStep& wanted) {
  if (auto opened = bench.open_lesson(wanted.lesson); !opened) return opened;
  const size_t steps = bench.lesson().progress()->lesson().steps.size();
  if (wanted.step < 1 || wanted.step > steps)
    return fail(cannot_go(wanted, " has no step " + std::to_string(wanted.step),
                          "It has " + std::to_string(steps) + " steps."));
  return {};
}

// The shown run's code is there, or will not be.
bool has_code(const session::Session& session) {
  const auto now = session.snapshot();
  return !now->listings.empty() || !now->refused_listings.empty();
}

bool has_softmax(const session::Session& session) {
  const auto now = session.snapshot();
  return !now->refused_listings.empty() ||
         std::ranges::any_of(now->listings, [](const auto& one) { return one.second->softmax.has_value(); });
}

Result<void> show_asked(Workbench& bench, const ShotOptions& options) {
  if (options.fragments > 0) bench.show_fragments(options.fragments);
  if (options.softmax_row >= 0) bench.show_softmax({0, 0, options.softmax_row}, options.softmax_tile);
  return options.panel.empty() ? Result<void>() : bench.show_panel(options.panel);
}

}  // namespace

Result<void> shot(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options) {
  if (auto possible = platform::check_output(file); !possible) return possible;
  Result<std::unique_ptr<Offscreen>> made = Offscreen::create(size, options.resources);
  if (!made) return fail(made.error());
  Offscreen& screen = **made;
  WorkbenchOptions bench_options;
  bench_options.resources = options.resources;
  bench_options.own_lessons = options.own_lessons;
  bench_options.keep_settings = false;
  Workbench bench(session, std::move(bench_options));
  bench.ignore_kept_settings();
  bench.settings().theme = theme_of(!options.light, options.contrast);
  bench.settings().zoom = options.zoom;
  const auto frame = [&](bool rasterise) {
    bench.before_frame();
    screen.begin_frame();
    bench.draw();
    screen.end_frame(rasterise);
  };
  if (options.step)
    if (auto begun = begin_step(bench, *options.step); !begun) return begun;
  if (auto possible = show_asked(bench, options); !possible) return possible;
  const double deadline = platform::steady_ms() + options.patience_ms;
  for (bool there = false;;) {
    frame(false);
    const bool still = bench.settled();
    if (still && there) break;
    if (still && !bench.presents() && (options.step || options.presents)) {
      bench.present(true);
    } else if (still && options.step) {
      const Result<bool> led = lead(bench.lesson(), *options.step);
      if (!led) return fail(led.error());
      there = *led;
    } else {
      there =
          still && (options.fragments == 0 || has_code(session)) && (options.softmax_row < 0 || has_softmax(session));
    }
    if (platform::steady_ms() > deadline)
      return fail(
          Stage::deadline,
          "The experiment and its map were not complete after " + std::to_string(options.patience_ms / 1000) + " s",
          "Choose a smaller problem, or a sampled one.");
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
  }
  for (int last = 0; last < kLastFrames; ++last) frame(last + 1 == kLastFrames || last == 0);
  return write_png(file, size, screen.pixels());
}

}  // namespace attnscope::ui
