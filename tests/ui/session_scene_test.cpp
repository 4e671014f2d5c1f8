// The window after a session of thirty runs over six kernels, at every reference size, theme and zoom. Made only when
// ATTNSCOPE_SCENES names a folder for the pictures, because the emulator runs every one of them.
#include <fmt/format.h>

#include <cstdlib>

#include "ui/scene.h"

namespace attnscope::ui {
namespace {

struct Step {
  const char* kernel;
  std::map<std::string, int64_t> knobs;  // those that differ from the defaults
};

const std::vector<Step> kSession = {
    {"minimal", {{"THREADS", 64}}},
    {"minimal", {}},
    {"minimal", {{"THREADS", 256}}},
    {"tiled", {}},
    {"tiled", {{"NUM_WARPS", 8}}},
    {"tiled", {{"NUM_WARPS", 6}}},
    {"tiled", {{"NUM_WARPS", 2}}},
    {"tiled", {{"NUM_WARPS", 8}, {"SWIZZLE_XOR", 1}}},
    {"tiled", {{"NUM_WARPS", 8}, {"SYNC_POLICY", 2}}},
    {"tiled", {{"BLOCK_M", 64}, {"SHARED", 1}}},
    {"tiled", {{"NUM_WARPS", 8}, {"REDUCE_WARP", 0}}},
    {"scalar", {}},
    {"scalar", {{"NUM_WARPS", 8}, {"BLOCK_M", 64}}},
    {"scalar", {{"STAGES", 1}}},
    {"scalar", {{"VEC_WIDTH", 8}}},
    {"wmma", {}},
    {"wmma", {{"PAD", 0}}},
    {"wmma", {{"STAGES", 1}}},
    {"wmma", {{"TENSOR_OPS", 1}}},
    {"mma", {}},
    {"mma", {{"SWIZZLE_XOR", 0}}},
    {"mma", {{"STAGES", 3}}},
    {"mma", {{"BLOCK_M", 64}, {"BLOCK_N", 64}}},
    {"mma", {{"SPLIT_KEYS", 1}, {"NUM_WARPS", 2}}},
    {"mma", {{"Q_REGS", 0}}},
    {"cute", {}},
    {"cute", {{"STAGES", 1}}},
    {"cute", {{"BLOCK_M", 128}}},
    {"cute", {{"Q_REGS", 0}}},
    {"tiled", {{"NUM_WARPS", 8}, {"VEC_WIDTH", 8}}},
};

class SessionScene : public Scene {
 protected:
  // Every step as a user's gesture, named after its change.
  void run_session(ImGuiTestContext* ctx) {
    wait_for_run(ctx, "NUM_WARPS", 4);
    std::string before = "tiled";
    for (const Step& step : kSession) {
      const Kernel* kernel = session::find_kernel(*now(), step.kernel);
      ASSERT_NE(kernel, nullptr) << step.kernel;
      Draft draft = now()->focus.wanted;
      draft.kernel = step.kernel;
      draft.config.options = kernel->options;
      draft.config.knobs = step.knobs;
      std::string change = "kernel " + before + " \u2192 " + step.kernel;
      if (before == step.kernel && !step.knobs.empty()) {
        const Knob& knob = *kernel->find_knob(step.knobs.begin()->first);
        change = change_text(knob, knob.default_value, step.knobs.begin()->second);
      }
      before = step.kernel;
      const size_t had = now()->history.size;
      session_->focus(std::move(draft), {next_gesture(), true, change});
      wait(
          ctx, [&](const session::Snapshot& s) { return s.history.size > had && !s.focus.running; }, change.c_str());
    }
  }
};

TEST_F(SessionScene, AfterThirtyRunsOverSixKernels) {
  real_worker();
  open({1600, 900});
  flow([&](ImGuiTestContext* ctx) { run_session(ctx); });
  for (const ShotSize size : {ShotSize{1024, 640}, {1280, 720}, {1600, 900}, {2560, 1440}})
    for (const ThemeMode theme : {ThemeMode::dark, ThemeMode::light})
      for (const float zoom : {1.0f, 1.3f}) {
        close_window();
        open_window(size);
        bench_->ignore_kept_settings();
        bench_->settings().theme = theme;
        bench_->settings().zoom = zoom;
        bench_->settings().invited = true;
        flow([&](ImGuiTestContext* ctx) {
          ctx->Yield(8);
          wait(
              ctx, [&](const session::Snapshot&) { return bench_->settled(); }, "the maps");
          if (size.width > 1100) ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
          ctx->Yield(8);
        });
        picture(fmt::format("session_{}x{}_{}_{:.0f}", size.width, size.height,
                            theme == ThemeMode::dark ? "dark" : "light", zoom * 100));
      }
}

}  // namespace
}  // namespace attnscope::ui
