// How views look as pixels, at the reference window sizes in both themes, over fixed snapshots. Each picture is reduced
// to kColumns x kRows means and compared with tests/data/look/NAME.png. This finds what the words of Look miss, such as
// a wrong colour, an empty plot, or a part over another or outside the window.
//   ATTNSCOPE_WRITE_LOOK=1 ui_tests --gtest_filter='*PixelLook*'
// To judge the views by eye, in high contrast too, write the whole pictures; nothing is compared then:
//   ATTNSCOPE_LOOK_PICTURES=FOLDER ui_tests --gtest_filter='*PixelLook*'
#include <imgui_internal.h>
#include <stb_image.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

#include "support/made_up_timeline.h"
#include "ui/look.h"
#include "ui/png.h"
#include "ui/still_code.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {
namespace {

constexpr int kColumns = 80, kRows = 45;
constexpr int kStatusRows = 2;   // the status bar shows the frame's time, and Look holds its words
constexpr int kTolerance = 10;   // of 255, for one mean; another rasteriser's edges move a mean by less
constexpr int kMostDiffer = 20;  // means; a missing line of text changes more
constexpr size_t kChannels = 3;

using Means = std::vector<uint8_t>;  // RGB, rows from the top

Means reduced(std::span<const uint8_t> rgb, ShotSize size) {
  Means means;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      const int left = column * size.width / kColumns, right = (column + 1) * size.width / kColumns;
      const int top = row * size.height / kRows, bottom = (row + 1) * size.height / kRows;
      for (size_t channel = 0; channel < kChannels; ++channel) {
        int sum = 0;
        for (int y = top; y < bottom; ++y)
          for (int x = left; x < right; ++x) sum += rgb[static_cast<size_t>(y * size.width + x) * kChannels + channel];
        means.push_back(static_cast<uint8_t>(sum / ((right - left) * (bottom - top))));
      }
    }
  return means;
}

// The number of means that differ, above the status bar.
int different(const Means& a, const Means& b) {
  int count = 0;
  for (size_t at = 0; at < static_cast<size_t>(kColumns) * (kRows - kStatusRows); ++at) {
    int most = 0;
    for (size_t c = at * kChannels; c < (at + 1) * kChannels; ++c) most = std::max(most, std::abs(a[c] - b[c]));
    count += most > kTolerance ? 1 : 0;
  }
  return count;
}

// The folder for whole pictures; null: the views are compared.
const char* pictures_folder() { return std::getenv("ATTNSCOPE_LOOK_PICTURES"); }

struct Setting {
  ShotSize size;
  ThemeMode theme;
};
std::string name_of(const Setting& setting) {
  static constexpr const char* kThemes[] = {"_dark", "_light", "_black", "_white"};
  return std::to_string(setting.size.width) + kThemes[static_cast<size_t>(setting.theme)];
}
std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const ShotSize size : {ShotSize{1280, 720}, ShotSize{1600, 900}, ShotSize{2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light, ThemeMode::black, ThemeMode::white})
      if (!is_contrast(theme) || pictures_folder() != nullptr) all.push_back({size, theme});
  return all;
}

class PixelLook : public Look, public testing::WithParamInterface<Setting> {
 protected:
  void open_with(session::Snapshot snapshot) {
    if (bench_) close();
    open(std::move(snapshot), GetParam().size, GetParam().theme);
    bench_->settings().invited = true;
  }
  // After `steps`, with the pointer out of the way and the maps drawn.
  void keep(const std::string& name, const std::function<void(ImGuiTestContext*)>& steps) {
    flow([&](ImGuiTestContext* ctx) {
      steps(ctx);
      ctx->MouseTeleportToPos({static_cast<float>(GetParam().size.width) / 2, 2});
      ctx->Yield(8);
      wait(
          ctx, [&](const session::Snapshot&) { return bench_->settled() && !fades(); }, "the maps");
      rasterises_ = true;
      ctx->Yield();  // in the flow, which closes its dialogs at its end
      rasterises_ = false;
    });
    names_.push_back(name);
    if (pictures_folder() != nullptr) return write_picture(name);
    const Means means = reduced(screen_->pixels(), GetParam().size);
    kept_.insert(kept_.end(), means.begin(), means.end());
  }
  // A dialog's backdrop fades in, and out behind it, by the wall clock.
  static bool fades() {
    const float shade = ImGui::GetCurrentContext()->DimBgRatio;
    return shade > 0 && shade < 1;
  }
  void keep_panel(const std::string& panel) {
    keep(panel, [&](ImGuiTestContext* ctx) {
      bench_->open_panel(panel);
      ctx->Yield(8);
      if (panel == "Sweep")
        wait(
            ctx, [&](const session::Snapshot&) { return !bench_->sweep().counts(); }, "the count of the configs");
    });
  }
  void write_picture(const std::string& name) {
    const PictureSize size{GetParam().size.width, GetParam().size.height};
    const auto png = png_of(size, kChannels, screen_->pixels());
    ASSERT_TRUE(png) << png.error().message;
    const std::filesystem::path file =
        std::filesystem::path(pictures_folder()) / (name + "_" + name_of(GetParam()) + ".png");
    ASSERT_TRUE(std::ofstream(file, std::ios::binary) << *png) << file << " cannot be written";
  }
  // The views, one below the other.
  void expect_kept_as_recorded() {
    if (pictures_folder() != nullptr) return;
    const std::filesystem::path file =
        std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/look" / ("pixels_" + name_of(GetParam()) + ".png");
    const PictureSize size{kColumns, kRows * static_cast<int>(names_.size())};
    if (std::getenv("ATTNSCOPE_WRITE_LOOK") != nullptr) {
      const auto png = png_of(size, kChannels, kept_);
      ASSERT_TRUE(png) << png.error().message;
      std::ofstream(file, std::ios::binary) << *png;
      return;
    }
    int width = 0, height = 0, channels = 0;
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> recorded(
        stbi_load(file.c_str(), &width, &height, &channels, kChannels), &stbi_image_free);
    ASSERT_NE(recorded, nullptr) << file << ": " << stbi_failure_reason();
    ASSERT_EQ(width, size.width);
    ASSERT_EQ(height, size.height) << file << " holds other views";
    constexpr size_t kOne = static_cast<size_t>(kColumns) * kRows * kChannels;
    for (size_t at = 0; at < names_.size(); ++at) {
      const Means now(std::next(kept_.begin(), static_cast<ptrdiff_t>(at * kOne)),
                      std::next(kept_.begin(), static_cast<ptrdiff_t>((at + 1) * kOne)));
      const Means before(std::next(recorded.get(), static_cast<ptrdiff_t>(at * kOne)),
                         std::next(recorded.get(), static_cast<ptrdiff_t>((at + 1) * kOne)));
      EXPECT_LE(different(before, now), kMostDiffer)
          << "\"" << names_[at] << "\" looks different at " << name_of(GetParam())
          << ". If that is intended, look at it with `attnscope shot`, and write the recordings again.";
    }
  }

 private:
  std::vector<std::string> names_;
  std::vector<uint8_t> kept_;
};

// Presets and named sessions, with a preset whose run is in the history, one that did not run, and one that cannot.
session::Snapshot with_kept_work(session::Snapshot snapshot) {
  const Draft ran = snapshot.focus.shown->experiment;
  Draft other = ran;
  other.problem.seq_k = 1024;
  const std::string note = "The figure was confirmed twice, on one machine and with one driver.";
  snapshot.presets = session::share(std::vector<session::PresetItem>{
      {"As it starts", "/presets/start.json", "Defaults", note, false, ran},
      {"The report's fastest config of 32 rows and 8 warps", "/presets/m32.json", "Reports", note, false, other},
      {"Another", "/presets/other.json", "Reports", "", false, {}},
      {"Mine", "/mine/mine.json", "Yours", "", true, ran}});
  snapshot.preset_path = "/presets/start.json";
  snapshot.user_preset_dir = "/mine";
  snapshot.sessions = session::share(
      std::vector<session::SavedSession>{{"Bank conflicts", "/sessions/banks.json", "for the talk on Monday", "tiled"},
                                         {"Long rows", "/s/l.json", "", "minimal"}});
  snapshot.deleted_sessions =
      session::share(std::vector<session::SavedSession>{{"First try", "/sessions/deleted/first.json", "", "tiled"}});
  return snapshot;
}

// Workers of other machines: one with two GPUs, one whose link is lost, one that waits in a queue.
session::Snapshot with_workers(session::Snapshot snapshot) {
  session::WorkerStatus box = snapshot.workers.front();
  box.name = "l4box";
  box.command = {"ssh", "l4box", "attnscope", "worker"};
  box.remote = true;
  box.round_trip_ms = 12;
  box.versions = {"0.1.0", "12.8", "570.86.15, CUDA 12.8", ""};
  box.devices = {box.devices.front(), box.devices.front()};
  for (size_t at = 0; at < box.devices.size(); ++at) {
    box.devices[at].id = "cuda:" + std::to_string(at);
    box.devices[at].emulated = false;
  }
  box.gpus = {{"cuda:0", 2040, 31, 72, 54, {}}, {"cuda:1", 1185, 72, 72, 81, {"power cap"}}};
  session::WorkerStatus lost;
  lost.name = "h200box";
  lost.state = session::WorkerState::lost;
  lost.trouble = session::LinkTrouble::unreachable;
  lost.command = {"ssh", "h200box", "attnscope", "worker"};
  lost.detail =
      "it ended with status 255: ssh: connect to host h200box port 22: No route to host; tried again every 30 s";
  session::WorkerStatus queued;
  queued.name = "queue";
  queued.command = {"srun", "-n1", "-u", "--gres=gpu:1", "attnscope", "worker"};
  queued.detail = "srun: job 7 queued and waiting for resources";
  for (session::WorkerStatus* one : {&box, &lost, &queued}) snapshot.workers.push_back(*one);
  return snapshot;
}

TEST_P(PixelLook, OfEveryView) {
  open_with(with_timeline(with_kept_work(snapshot_after({"minimal", "m32_w8", "m32_w4"})),
                          testing_support::made_up_timeline()));
  for (const char* panel : {"History", "Why", "Counters", "Timeline", "Sweep", "Log", "Attention", "Error", "Lessons"})
    keep_panel(panel);
  for (const char* plot : {"by knob", "roofline", "runs"})
    keep(plot, [&](ImGuiTestContext* ctx) { ctx->ItemClick((std::string("//Latency/") + plot).c_str()); });
  keep("the presets", [](ImGuiTestContext* ctx) { ctx->MenuClick("//##MainMenuBar/Presets/Manage presets\u2026"); });
  keep("the sessions", [](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(4);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_O);
  });
  flow([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
  keep("a lesson's step", [&](ImGuiTestContext* ctx) {
    EXPECT_TRUE(bench_->open_lesson("04_idle_warps"));
    bench_->open_panel("Lessons");
    ctx->Yield(8);
  });
  keep("the presenter", [&](ImGuiTestContext* ctx) {
    bench_->present(true);
    ctx->Yield(12);
  });

  open_with(with_a_product(with_banks(snapshot_with_code())));
  const auto keep_clicked = [&](const char* view, const char* panel, const std::string& button) {
    keep(view, [&](ImGuiTestContext* ctx) {
      bench_->open_panel(panel);
      ctx->Yield(4);
      ctx->ItemClick(button.c_str());
    });
  };
  for (const char* pane : {"Source", "SASS", "PTX", "Banks", "Fragments"})
    keep_clicked(pane, "Source", std::string("//Source/") + pane);

  open_with(snapshot_with_terms({waiting_warps()}));
  keep("terms and a finding", [&](ImGuiTestContext* ctx) {
    bench_->open_panel("Why");
    ctx->Yield(8);
  });

  open_with(snapshot_with_softmax_of_both());
  keep_clicked("Softmax beside A", "Source", "//Source/Softmax");
  keep("tiles beside A's", [&](ImGuiTestContext* ctx) {
    bench_->open_panel("Attention");
    ctx->Yield(8);
  });
  open_with(snapshot_with_clocks_of_both());
  keep_clicked("clocks beside A's", "Timeline", "//Timeline/measured");

  open_with(with_workers(snapshot_after({"m32_w4"})));
  keep("the workers", [](ImGuiTestContext* ctx) { ctx->MenuClick("//##MainMenuBar/Run/Workers\u2026"); });
  flow([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });

  session::Snapshot failed = snapshot_after({"m32_w4", "m64_w4"});
  failed.focus.failure = failed.focus.shown->failure;
  failed.focus.shown = failed.history.at(0).observation;
  failed.focus.run = 1;
  open_with(std::move(failed));
  keep("a failure", [](ImGuiTestContext*) {});
  expect_kept_as_recorded();
}

INSTANTIATE_TEST_SUITE_P(Sizes, PixelLook, testing::ValuesIn(settings()),
                         [](const auto& setting) { return name_of(setting.param); });

// A line of text, a wrong colour and an empty plot each exceed the tolerance.
TEST(PixelLookTolerance, ALineOfTextIsMore) {
  constexpr ShotSize kSize{1280, 720};
  std::vector<uint8_t> rgb(static_cast<size_t>(kSize.width) * kSize.height * kChannels, 20);
  const Means empty = reduced(rgb, kSize);
  for (int y = 300; y < 312; ++y)
    for (int x = 100; x < 100 + 22 * 16; x += 4) rgb[static_cast<size_t>(y * kSize.width + x) * kChannels] = 200;
  EXPECT_GT(different(empty, reduced(rgb, kSize)), kMostDiffer);
  EXPECT_EQ(different(empty, empty), 0);
}

}  // namespace
}  // namespace attnscope::ui
