// A knob's values, scanned from its rail, behind the rail and in the latency panel; and runs under the device's roofs.
#include <imgui_internal.h>

#include "ui/scans.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class ScanFlow : public WindowFlow {
 protected:
  // The newest scan, once it has ended.
  const Scan* wait_for_scan(ImGuiTestContext* ctx, const char* knob) {
    const auto is_over = [&](const session::Snapshot& s) {
      return !s.scans.empty() && s.scans.back()->over() && s.scans.back()->points.front().knob == knob;
    };
    if (!wait(ctx, is_over, "the end of the scan")) return nullptr;
    seen_ = now();
    ctx->Yield(3);
    return seen_->scans.back().get();
  }
  // Moves over that part of the plot (shares of its width) until the tooltip contains those words. Returns false if it
  // never does.
  bool find_in_plot(ImGuiTestContext* ctx, const char* plot, const char* words, float from, float to, ImVec2 step) {
    const ImRect frame = ctx->ItemInfo(plot).RectFull;
    for (float x = frame.Min.x + from * frame.GetWidth(); x < frame.Min.x + to * frame.GetWidth(); x += step.x)
      for (float y = frame.Max.y - 50; y > frame.Min.y; y -= step.y) {
        ctx->MouseTeleportToPos({x, y});
        ctx->Yield();
        if (drawn_words(ctx).find(words) != std::string::npos) return true;
      }
    return false;
  }
  bool find_value(ImGuiTestContext* ctx, const char* words) {
    return find_in_plot(ctx, "//Latency/##values", words, 0.2f, 0.96f, {20, 150});
  }

  std::shared_ptr<const session::Snapshot> seen_;
};

TEST_F(ScanFlow, OneClickFillsTheRailAndAPointBecomesTheExperiment) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/scan");
    const Scan* scan = wait_for_scan(ctx, "NUM_WARPS");
    ASSERT_NE(scan, nullptr);
    EXPECT_EQ(scan->points.size(), 5u);
    EXPECT_EQ(runs(), 5u) << "the shown run is one of them";
    EXPECT_EQ(now()->history.size, 1u);
    EXPECT_EQ(scan_of(*now(), now()->focus.wanted, "NUM_WARPS"), scan);
    const charts::ScanSeries series = series_of(*scan, now()->focus.wanted, "NUM_WARPS");
    EXPECT_THAT(words_of(series.rows[4]), HasSubstr("the fastest"));
    EXPECT_THAT(words_of(series.rows[3]), HasSubstr("Expect: NUM_WARPS does not divide BLOCK_M"));

    ctx->ItemClick("//Latency/by knob");
    ctx->Yield(4);
    const std::string best = charts::best_sentence(series);  // the line may be too short for all of it
    EXPECT_THAT(best, HasSubstr("cannot be told apart; one is the current value"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr(best.substr(0, best.find(" fastest"))));
    ASSERT_TRUE(find_value(ctx, "NUM_WARPS=8\n"));
    ctx->MouseClick();
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->Yield(2);
    EXPECT_EQ(now()->focus.change, "NUM_WARPS 4 \u2192 8");
    EXPECT_EQ(now()->scans.size(), 1u) << "it holds for its own values";
    EXPECT_THAT(drawn_words(ctx), HasSubstr("are fastest and cannot be told apart"));
  });
}

TEST_F(ScanFlow, ARefusedValueSaysWhyAndIsNoExperiment) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Latency/by knob");
    ctx->Yield(2);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Choose a knob"));
    ctx->ItemClick("//Latency/##knob");
    ctx->ItemClick("//$FOCUSED/BLOCK_M");
    ASSERT_NE(wait_for_scan(ctx, "BLOCK_M"), nullptr);
    const size_t before = runs();
    ASSERT_TRUE(find_value(ctx, "BLOCK_M=64\n"));
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("57,376"));
    EXPECT_THAT(drawn, Not(HasSubstr("Click to make it")));
    ctx->MouseClick();
    ctx->Yield(4);
    EXPECT_EQ(runs(), before);
    EXPECT_EQ(now()->focus.wanted.config.knobs.at("BLOCK_M"), 32);
  });
}

TEST_F(ScanFlow, AnotherKnobsTurnHidesTheValues) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/BLOCK_M/scan");
    ASSERT_NE(wait_for_scan(ctx, "BLOCK_M"), nullptr);
    ctx->ItemClick("//Latency/by knob");
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->Yield(2);
    EXPECT_EQ(scan_of(*now(), now()->focus.wanted, "BLOCK_M"), nullptr);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Choose a knob"));
    ctx->ItemClick("//Experiment/NUM_WARPS/4");
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->Yield(2);
    EXPECT_NE(scan_of(*now(), now()->focus.wanted, "BLOCK_M"), nullptr) << "and they are back with it";
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Choose a knob")));
  });
}

TEST_F(ScanFlow, TheRooflineNamesARunAndItsRoof) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->ItemClick("//Latency/roofline");
    ctx->Yield(4);
    ASSERT_TRUE(find_in_plot(ctx, "//Latency/##roofline", "of the roof above it", 0.58f, 0.7f, {8, 9}));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("TFLOP/s modelled"));
    ctx->MouseClick();
    ctx->Yield(4);
    EXPECT_TRUE(now()->selected) << "a click looks at that run";
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->ItemClick("//Latency/runs");
    ctx->Yield(3);
    EXPECT_TRUE(ctx->ItemExists("//Latency/##latency"));
  });
}

}  // namespace
}  // namespace attnscope::ui
