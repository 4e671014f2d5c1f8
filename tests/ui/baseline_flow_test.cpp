// The baseline: the previous run, or the one that the user pins.
#include <imgui_internal.h>

#include "core/with_commas.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using charts::Outcome;
using testing::HasSubstr;

class BaselineFlow : public WindowFlow {
 protected:
  void set_warps(ImGuiTestContext* ctx, int warps) {
    ctx->ItemClick(("//Experiment/NUM_WARPS/" + std::to_string(warps)).c_str());
    wait_for_run(ctx, "NUM_WARPS", warps);
  }
};

TEST_F(BaselineFlow, TheStripNamesBothRunsAndTheVerdict) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    EXPECT_EQ(bench_->baseline().run(), 0u);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("no earlier run with a time"));
    set_warps(ctx, 8);
    EXPECT_EQ(bench_->baseline().run(), 1u);
    ASSERT_TRUE(bench_->baseline().delta);
    EXPECT_EQ(bench_->baseline().delta->standing.outcome, Outcome::tie) << "modelled times 1.9 % apart";
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("tiled, every knob at its default (run 1)"));
    EXPECT_THAT(drawn, HasSubstr("NUM_WARPS=8 (run 2)"));
    EXPECT_THAT(drawn, HasSubstr(charts::verdict_text(bench_->baseline().delta->standing)));
  });
}

TEST_F(BaselineFlow, APinnedRunStaysAUntilItIsUnpinned) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    set_warps(ctx, 8);
    set_warps(ctx, 6);
    EXPECT_EQ(bench_->baseline().run(), 1u);
    EXPECT_TRUE(bench_->baseline().pinned);
    EXPECT_EQ(bench_->baseline().delta->run, 1u);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("NUM_WARPS=6 (run 3)"));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_B);
    ctx->Yield(2);
    EXPECT_EQ(bench_->baseline().run(), 2u);
    ctx->ItemClick("//##baseline/###pin A");  // the one that is A now
    set_warps(ctx, 2);
    EXPECT_EQ(bench_->baseline().run(), 2u);
    ctx->ItemClick("//##baseline/###pin A");
    ctx->Yield(2);
    EXPECT_EQ(bench_->baseline().run(), 3u);
  });
}

TEST_F(BaselineFlow, ARunIsPinnedInTheHistory) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    set_warps(ctx, 8);
    set_warps(ctx, 6);
    ctx->ItemClick("//History/runs/$$1/###run", ImGuiMouseButton_Right);
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Pin as A");
    ctx->Yield(2);
    EXPECT_EQ(bench_->baseline().run(), 1u);
    EXPECT_TRUE(bench_->baseline().pinned);
    // When A itself is shown, nothing is compared.
    session_->select_history(1);
    wait(
        ctx, [](const session::Snapshot& s) { return s.selected.has_value(); }, "the picked run");
    EXPECT_TRUE(bench_->baseline().is_shown);
    EXPECT_FALSE(bench_->baseline().delta);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("A itself (run 1)"));
  });
}

TEST_F(BaselineFlow, APinIsThereAgainAfterARestart) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    set_warps(ctx, 8);
    bench_->keep_settings_now();
  });
  close();
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    set_warps(ctx, 6);
    EXPECT_TRUE(bench_->baseline().pinned);
    EXPECT_EQ(bench_->baseline().run(), 1u);
  });
}

TEST_F(BaselineFlow, AFailedRunIsNotComparableAndCannotBePinned) {
  fake_worker({"--crash", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait(
            ctx, [](const session::Snapshot& s) { return s.focus.failure && !s.focus.running; }, "the failure"))
      return;
    EXPECT_EQ(bench_->baseline().run(), 1u);
    EXPECT_FALSE(bench_->baseline().delta);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("not comparable: no time"));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ctx->Yield(2);
    EXPECT_FALSE(bench_->settings().pinned);
  });
}

// A's counts stand beside B's, and the strip keeps its height whatever text it shows.
TEST_F(BaselineFlow, PanelsShowAsFiguresBesideBs) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const float height = ctx->GetWindowByRef("//##baseline")->Size.y;
    EXPECT_EQ(bench_->baseline().ghost, nullptr);
    set_warps(ctx, 8);
    EXPECT_EQ(ctx->GetWindowByRef("//##baseline")->Size.y, height);
    ASSERT_NE(bench_->baseline().ghost, nullptr);
    bench_->open_panel("Counters");
    ctx->Yield(8);
    const auto barriers = [](const Observation& seen) { return with_commas(seen.counters->barriers); };
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr(barriers(*now()->history.at(0).observation)));
    EXPECT_THAT(drawn, HasSubstr(barriers(*now()->history.at(1).observation)));
    EXPECT_THAT(drawn, HasSubstr("; A "));
  });
}

}  // namespace
}  // namespace attnscope::ui
