#include <algorithm>
#include <string>

#include "platform/output_file.h"
#include "ui/app.h"
#include "ui/panel_picture.h"
#include "ui/panels/panels.h"
#include "ui/png.h"
#include "ui/studio.h"

namespace attnscope::ui {
namespace {

// True if the shown run's code has arrived or was refused.
bool has_code(const session::Session& session) {
  const auto now = session.snapshot();
  return !now->listings.empty() || !now->refused_listings.empty();
}

bool has_softmax(const session::Session& session) {
  const auto now = session.snapshot();
  return !now->refused_listings.empty() ||
         std::ranges::any_of(now->listings, [](const auto& one) { return one.second->softmax.has_value(); });
}

bool has_timeline(const session::Session& session) {
  const auto now = session.snapshot();
  const auto of_timeline = [](const auto& one) { return one.first.find("/timeline/") != one.first.npos; };
  return now->focus.shown == nullptr || std::ranges::any_of(now->refused_listings, of_timeline) ||
         std::ranges::any_of(now->listings, [](const auto& one) { return one.second->timeline.has_value(); });
}

// Checked, because for a row that the shown run does not have the pane would show its last.
Result<void> check_row(const session::Session& session, int64_t row) {
  const auto seen = session.snapshot()->focus.shown;
  if (row < 0 || seen == nullptr || !seen->experiment.problem.is_attention()) return {};
  const int64_t rows = seen->experiment.problem.seq_q;
  if (row < rows) return {};
  return fail(Stage::input, "there is no query row " + std::to_string(row),
              "The problem's rows are 0 to " + std::to_string(rows - 1) + ".");
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
  auto opened = Studio::open(session, size, options);
  if (!opened) return fail(opened.error());
  Studio& studio = **opened;
  Workbench& bench = studio.bench();
  if (options.step)
    if (auto begun = begin_step(bench, *options.step); !begun) return begun;
  if (auto possible = show_asked(bench, options); !possible) return possible;
  studio.start_waiting();
  for (bool there = false;;) {
    studio.frame(false);
    const bool still = bench.settled();
    if (still && there) break;
    if (still && !bench.presents() && (options.step || options.presents)) {
      bench.present(true);
    } else if (still && options.step) {
      const Result<bool> led = lead(bench.lesson(), *options.step);
      if (!led) return fail(led.error());
      there = *led;
    } else {
      there = still && (options.fragments == 0 || has_code(session)) &&
              (options.softmax_row < 0 || has_softmax(session)) &&
              (options.panel != kTimelineTitle || has_timeline(session));
    }
    if (auto waited = studio.wait_on(); !waited) return waited;
  }
  if (auto possible = check_row(session, options.softmax_row); !possible) return possible;
  studio.settle_frames();
  PictureSize whole{size.width, size.height};
  std::vector<uint8_t> pixels = studio.pixels();
  if (options.only) {
    const auto box = box_of_window(options.panel, whole);
    if (!box)
      return fail(Stage::input, "the panel \"" + options.panel + "\" is not visible at this size",
                  "Choose a larger --size.");
    pixels = cropped(pixels, whole, *box);
    whole = {box->width, box->height};
  }
  auto png = png_of(whole, 3, pixels);
  return png ? platform::write_output(file, *png) : fail(png.error());
}

}  // namespace attnscope::ui
