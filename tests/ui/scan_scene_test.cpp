// The latency panel's views after a scan, at every reference size and theme; pictures to look at.
#include <fmt/format.h>

#include "ui/scene.h"

namespace attnscope::ui {
namespace {

class ScanScene : public Scene {
 protected:
  void scan(ImGuiTestContext* ctx, const char* knob) {
    ctx->ItemClick(fmt::format("//Experiment/{}/scan", knob).c_str());
    wait(
        ctx,
        [&](const session::Snapshot& s) {
          return !s.scans.empty() && s.scans.back()->over() && s.scans.back()->points.front().knob == knob;
        },
        knob);
  }
};

TEST_F(ScanScene, OfTheViewsOfTheLatencyPanel) {
  real_worker();
  open({1600, 900});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    for (const char* knob : {"VEC_WIDTH", "SYNC_POLICY", "BLOCK_M", "NUM_WARPS"}) scan(ctx, knob);
  });
  for (const ShotSize size : {ShotSize{1280, 720}, {1600, 900}, {2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light}) {
      close_window();
      open_window(size);
      bench_->ignore_kept_settings();
      bench_->settings().theme = theme;
      bench_->settings().invited = true;
      for (const char* view : {"by knob", "roofline"}) {
        flow([&](ImGuiTestContext* ctx) {
          ctx->Yield(8);
          wait(
              ctx, [&](const session::Snapshot&) { return bench_->settled(); }, "the maps");
          ctx->ItemClick(fmt::format("//Latency/{}", view).c_str());
          ctx->MouseTeleportToPos({2, 2});
          ctx->Yield(8);
        });
        picture(fmt::format("scan_{}_{}_{}", view[0] == 'b' ? "knob" : view, size.width,
                            theme == ThemeMode::dark ? "dark" : "light"));
      }
    }
}

}  // namespace
}  // namespace attnscope::ui
