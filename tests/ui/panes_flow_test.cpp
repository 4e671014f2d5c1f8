// Everything that opens can be closed, and every window size shows what it must.
#include <imgui_internal.h>

#include "ui/settings.h"
#include "ui/widgets/map_view.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

class Panes : public WindowFlow {
 protected:
  static int open_popups() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }
  static bool in_front(ImGuiTestContext* ctx, const char* title) {
    const ImGuiWindow* window = ctx->GetWindowByRef((std::string("//") + title).c_str());
    return window != nullptr && window->DockTabIsVisible;
  }
  static const ImGuiTable* history_table() {
    ImPool<ImGuiTable>& tables = ImGui::GetCurrentContext()->Tables;
    for (int at = 0; at < tables.GetMapSize(); ++at)
      if (const ImGuiTable* table = tables.TryGetMapData(at))
        if (table->OuterWindow != nullptr && std::string(table->OuterWindow->Name) == "History" &&
            table->ColumnsCount == 11)
          return table;
    return nullptr;
  }
};

TEST_F(Panes, EscapeClosesAMenuAndNothingElse) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(4);
    ASSERT_NE(bench_->refusal_of("BLOCK_M"), "");
    ctx->MenuAction(ImGuiTestAction_Click, "//##MainMenuBar/Run");
    ctx->Yield(2);
    ASSERT_GT(open_popups(), 0);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_EQ(open_popups(), 0);
    EXPECT_NE(bench_->refusal_of("BLOCK_M"), "");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_EQ(bench_->refusal_of("BLOCK_M"), "");
  });
}

TEST_F(Panes, ARefusalGoesWhenTheCurrentValueIsClicked) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "BLOCK_M", 32)) return;
    ctx->ItemClick("//Experiment/BLOCK_M/64");
    ctx->Yield(4);
    ASSERT_NE(bench_->refusal_of("BLOCK_M"), "");
    ctx->ItemClick("//Experiment/BLOCK_M/32");
    ctx->Yield(4);
    EXPECT_EQ(bench_->refusal_of("BLOCK_M"), "");
    EXPECT_EQ(runs(), 1u);
  });
}

TEST_F(Panes, AComparisonClosesByItsIconAndByEscape) {
  open({1280, 720});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    ctx->Yield(8);
    ASSERT_NE(bench_->compared_run(), 0u);
    const ImGuiTestItemInfo icon = ctx->ItemInfo("//History/**/###stop comparing");
    EXPECT_EQ(icon.RectClipped.GetWidth(), icon.RectFull.GetWidth());
    EXPECT_LE(icon.RectFull.Max.x, ctx->GetWindowByRef("//History")->InnerClipRect.Max.x);
    ctx->ItemClick("//History/**/###stop comparing");
    ctx->Yield(2);
    EXPECT_EQ(bench_->compared_run(), 0u);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    ctx->Yield(4);
    ASSERT_NE(bench_->compared_run(), 0u);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    EXPECT_EQ(bench_->compared_run(), 0u);
  });
}

// The first run has none before it, so that a comparison ends there and is not back with the next run.
TEST_F(Panes, AComparisonClosesAtTheFirstRun) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    ctx->Yield(4);
    ASSERT_NE(bench_->compared_run(), 0u);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->Yield(4);
    EXPECT_FALSE(ctx->ItemExists("//History/**/###stop comparing"));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    ctx->Yield(4);
    EXPECT_EQ(bench_->compared_run(), 0u);
  });
}

TEST_F(Panes, ASmallWindowShowsEveryKnobAndAHistoryThatCanBeRead) {
  open({1024, 640});
  flow([&](ImGuiTestContext* ctx) {
    for (const float zoom : {1.0f, 1.3f}) {
      bench_->settings().zoom = zoom;
      if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
      bench_->reset_layout();
      ctx->Yield(10);
      const std::optional<RailPlace> last = bench_->rail_of("SHARED");
      ASSERT_TRUE(last);
      const ImGuiWindow* panel = ctx->GetWindowByRef("//Experiment");
      EXPECT_LE(last->y + last->height, panel->InnerClipRect.Max.y) << "at zoom " << zoom;
      for (const char* title : {"Latency", "Shared memory", "Error", "History"})
        EXPECT_TRUE(in_front(ctx, title)) << title << " at zoom " << zoom;
      const ImGuiTable* table = history_table();
      ASSERT_NE(table, nullptr);
      for (int column = 0; column < table->ColumnsCount; ++column)
        if (table->Columns[column].IsEnabled) {
          EXPECT_GE(table->Columns[column].WidthGiven, 15 * zoom * 2) << "column " << column << " at zoom " << zoom;
        }
    }
  });
}

TEST_F(Panes, ALargeWindowShowsWhatAUsualOneHidesBehindTabs) {
  open({2560, 1440});
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    for (const char* title :
         {"Experiment", "Latency", "Shared memory", "Error", "Attention", "History", "Why", "Counters", "Source"})
      EXPECT_TRUE(in_front(ctx, title)) << title;
    // Zoomed in, the same window counts as usual size, and its layout follows.
    bench_->settings().zoom = 1.8f;
    ctx->Yield(12);
    EXPECT_TRUE(in_front(ctx, "Error"));
    EXPECT_FALSE(in_front(ctx, "Attention"));
  });
}

TEST_F(Panes, TheWheelZoomsAMapAboutThePointerAndADoubleClickShowsAllOfIt) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    MapView& map = bench_->map_of(MapKind::error);
    if (!wait(
            ctx, [&](const session::Snapshot&) { return map.tile() != nullptr; }, "the map"))
      return;
    const ImGuiWindow* panel = ctx->GetWindowByRef("//Error");
    ctx->MouseMoveToPos({map.place().x + map.size().x * 0.25f, map.place().y + map.size().y * 0.5f});
    ctx->MouseWheelY(3);
    ctx->Yield(2);
    EXPECT_LT(map.part().width, 0.6f);
    EXPECT_NEAR(map.part().x + 0.25f * map.part().width, 0.25f, 1e-3f);
    EXPECT_NEAR(map.part().y + 0.5f * map.part().height, 0.5f, 1e-3f);
    EXPECT_EQ(panel->Scroll.y, 0);
    // A finer map is requested and arrives.
    const int coarse = map.tile()->height;
    ctx->MouseWheelY(3);
    if (!wait(
            ctx, [&](const session::Snapshot&) { return map.tile()->height > coarse; }, "the finer map"))
      return;
    ctx->MouseDoubleClick(ImGuiMouseButton_Left);
    ctx->Yield(2);
    EXPECT_EQ(map.part().width, 1);
    EXPECT_EQ(map.part().x, 0);
  });
}

}  // namespace
}  // namespace attnscope::ui
