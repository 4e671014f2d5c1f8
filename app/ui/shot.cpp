#include <stb_image_write.h>

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

}  // namespace

Result<void> shot(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options) {
  if (auto possible = platform::check_output(file); !possible) return possible;
  Result<std::unique_ptr<Offscreen>> made = Offscreen::create(size, options.resources);
  if (!made) return fail(made.error());
  Offscreen& screen = **made;
  WorkbenchOptions bench_options;
  bench_options.resources = options.resources;
  bench_options.keep_settings = false;
  Workbench bench(session, std::move(bench_options));
  bench.ignore_kept_settings();
  bench.settings().theme = options.light ? ThemeMode::light : ThemeMode::dark;
  bench.settings().zoom = options.zoom;
  const auto frame = [&](bool rasterise) {
    bench.before_frame();
    screen.begin_frame();
    bench.draw();
    screen.end_frame(rasterise);
  };
  const double deadline = platform::steady_ms() + options.patience_ms;
  for (;;) {
    frame(false);
    if (bench.settled()) break;
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
