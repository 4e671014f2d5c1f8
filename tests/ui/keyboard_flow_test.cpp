// The main job without a mouse: no flow here moves or presses one.
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using session::Snapshot;
using testing::HasSubstr;

class KeyboardFlow : public WindowFlow {
 protected:
  static void press(ImGuiTestContext* ctx, ImGuiKeyChord chord) {
    ctx->KeyPress(chord);
    ctx->Yield(4);
  }
  static void type(ImGuiTestContext* ctx, const std::string& words) {
    ctx->KeyChars(words.c_str());
    ctx->Yield(4);
    press(ctx, ImGuiKey_Enter);
  }
  static void command(ImGuiTestContext* ctx, const std::string& words) {
    press(ctx, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    type(ctx, words);
    ctx->Yield(6);
  }
};

TEST_F(KeyboardFlow, TheMainJobNeedsNoMouse) {
  real_worker();
  options_.first_experiment = false;
  const auto preset = dir_.write("small.json", R"({"attnscope_preset": 1, "title": "Small", "kernel": "minimal",
      "device": "emulated:l4", "problem": {"kind": "attention", "heads": 1, "kv_heads": 1, "seq_q": 128, "seq_k": 128}})");
  open();
  flow([&](ImGuiTestContext* ctx) {
    ctx->Yield(12);
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_O);  // open
    type(ctx, preset);
    if (!wait_for_run(ctx, "THREADS", 128)) return;
    command(ctx, "Choose kernel tiled");
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_B);  // the baseline
    command(ctx, "Set NUM_WARPS to 8");      // turn a knob
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    const size_t ran = now()->history.size;
    press(ctx, ImGuiKey_F5);  // run
    if (!wait(
            ctx, [&](const Snapshot& s) { return s.history.size > ran && !s.focus.running; }, "another run"))
      return;
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_D);  // compare
    EXPECT_EQ(bench_->compared_run(), bench_->baseline().run());
    EXPECT_NE(bench_->compared_run(), 0u);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("NUM_WARPS"));
    press(ctx, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);  // why
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("the largest difference first"));
    press(ctx, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);  // save
    type(ctx, "Eight warps");
    const std::filesystem::path saved = dir_ / "mine/eight-warps.json";
    if (!wait(
            ctx, [&](const Snapshot& s) { return s.preset_path == saved && std::filesystem::exists(saved); },
            "the saved preset"))
      return;
    EXPECT_FALSE(quit_);
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_Q);  // quit
    EXPECT_TRUE(quit_);
  });
}

}  // namespace
}  // namespace attnscope::ui
