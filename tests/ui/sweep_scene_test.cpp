// The Sweep panel after a sweep, at every reference size and theme; pictures to look at.
#include <fmt/format.h>

#include "ui/scene.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {
namespace {

class SweepScene : public Scene {
 protected:
  // Ticks every value of the knobs from the first to the last but one, and only the current value of the others.
  void choose(size_t first, size_t last) {
    const Kernel* kernel = session::find_kernel(*now(), now()->focus.wanted.kernel);
    ASSERT_NE(kernel, nullptr);
    auto& ticked = bench_->sweep().wishes(kernel->id).ticked;
    for (size_t at = 0; at < kernel->knobs.size(); ++at)
      if (at < first || at >= last)
        ticked[kernel->knobs[at].name] = {now()->focus.wanted.config.knobs.at(kernel->knobs[at].name)};
  }
};

TEST_F(SweepScene, OfTheSweepPanel) {
  real_worker();
  for (const ShotSize size : {ShotSize{1280, 720}, {1600, 900}, {2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light}) {
      close();
      open(size);
      bench_->ignore_kept_settings();
      bench_->settings().theme = theme;
      bench_->settings().invited = true;
      const auto named = [&](const char* view) {
        return fmt::format("sweep_{}_{}_{}", view, size.width, theme == ThemeMode::dark ? "dark" : "light");
      };
      flow([&](ImGuiTestContext* ctx) {
        if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
        choose(2, 4);
        bench_->open_panel("Sweep");
        ctx->Yield(10);
        wait(
            ctx, [&](const session::Snapshot&) { return !bench_->sweep().counts(); }, "the count of the configs");
        ctx->MouseTeleportToPos({2, 2});
        ctx->Yield(4);
      });
      picture(named("setup"));
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Sweep/Start");
        wait(
            ctx, [&](const session::Snapshot&) { return !bench_->sweep().runs(); }, "the end of the sweep");
        ctx->MouseTeleportToPos({2, 2});
        ctx->Yield(4);
      });
      picture(named("scatter"));
      for (const char* view : {"parallel", "###excluded"}) {
        flow([&](ImGuiTestContext* ctx) {
          ctx->ItemClick(fmt::format("//Sweep/{}", view).c_str());
          ctx->MouseTeleportToPos({2, 2});
          ctx->Yield(4);
        });
        picture(named(view[0] == '#' ? "excluded" : view));
      }
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Sweep/parallel");
        ctx->ItemClick("//Sweep/###tall");
        ctx->MouseTeleportToPos({2, 2});
        ctx->Yield(8);
      });
      picture(named("tall"));
    }
}

}  // namespace
}  // namespace attnscope::ui
