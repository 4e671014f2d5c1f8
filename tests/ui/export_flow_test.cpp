// Out of the window: plots, tables and runs as files, by the mouse and by the palette; each is read again.
#include <imgui_internal.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ui/icons.h"
#include "ui/widgets/map_view.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ExportFlow : public WindowFlow {
 protected:
  static std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  // Right-clicks into the panel's lower part and takes that line of the menu.
  void take(ImGuiTestContext* ctx, const char* panel, const char* line) {
    bench_->open_panel(panel);
    ctx->Yield(8);
    const ImGuiWindow* window = ctx->WindowInfo((std::string("//") + panel).c_str()).Window;
    ASSERT_NE(window, nullptr);
    ctx->MouseMoveToPos({window->Pos.x + window->Size.x * 0.5f, window->Pos.y + window->Size.y * 0.8f});
    ctx->MouseClick(ImGuiMouseButton_Right);
    ctx->Yield(4);
    const auto& popups = ctx->UiContext->OpenPopupStack;
    const ImGuiWindow* under = ctx->UiContext->HoveredWindow;
    ASSERT_FALSE(popups.empty()) << panel << " has no menu under the pointer, " << (under ? under->Name : "nowhere");
    ctx->SetRef(popups.back().Window);
    ctx->ItemClick(line);
    ctx->SetRef("");
    ctx->Yield(3);
  }
  void save_as(ImGuiTestContext* ctx, const std::filesystem::path& file) {
    ctx->ItemInput("//Save/##file");
    ctx->KeyCharsReplace(file.c_str());
    ctx->ItemClick("//Save/###save");
    ctx->Yield(3);
  }
};

TEST_F(ExportFlow, APlotIsSavedAsSvgCsvAndJson) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->ItemClick("//Experiment/NUM_WARPS/8");
    if (!wait_for_run(ctx, "NUM_WARPS", 8)) return;
    take(ctx, "Latency", "Save the plot as SVG\u2026");
    save_as(ctx, dir_ / "latency.svg");
    EXPECT_THAT(text_of(dir_ / "latency.svg"), StartsWith("<svg"));
    EXPECT_THAT(text_of(dir_ / "latency.svg"), HasSubstr(">2 B</text>"));
    take(ctx, "Latency", "Save the figures as CSV\u2026");
    save_as(ctx, dir_ / "latency.csv");
    const std::string csv = text_of(dir_ / "latency.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
    take(ctx, "Shared memory", "Save the figures as JSON\u2026");
    save_as(ctx, dir_ / "memory.json");
    EXPECT_GT(Json::parse(text_of(dir_ / "memory.json"), nullptr, false).size(), 1u);
    take(ctx, "Counters", "Copy the figures as CSV");
    EXPECT_THAT(ImGui::GetClipboardText(), StartsWith("group,figure,value,"));
  });
}

TEST_F(ExportFlow, ARunIsSavedAsItsFileAndCopiedAsACommand) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    take(ctx, "Latency", "Save the run as JSON\u2026");
    save_as(ctx, dir_ / "run.json");
    const auto read = observation_from_json(Json::parse(text_of(dir_ / "run.json"), nullptr, false), "run");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->hash, now()->focus.shown->hash);
    take(ctx, "Latency", "Copy as command line");
    EXPECT_THAT(ImGui::GetClipboardText(), HasSubstr("attnscope run --kernel tiled"));
  });
}

TEST_F(ExportFlow, AMapIsATableOfItsValues) {
  real_worker();
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    if (!wait(
            ctx, [&](const session::Snapshot&) { return bench_->settled(); }, "the map"))
      return;
    take(ctx, "Error", "Save the figures as CSV\u2026");
    save_as(ctx, dir_ / "map.csv");
    const std::string csv = text_of(dir_ / "map.csv");
    EXPECT_THAT(csv, StartsWith("row,0,1,2,"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + bench_->map_of(MapKind::error).tile()->height);
  });
}

TEST_F(ExportFlow, AFolderThatIsNotThereIsSaidAndNothingIsLost) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(4);
    ctx->KeyChars("all runs");
    ctx->Yield(4);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(6);
    save_as(ctx, dir_ / "no such" / "runs.csv");
    EXPECT_TRUE(ctx->ItemExists("//Save/##file")) << "it stays open";
    EXPECT_THAT(drawn_words(ctx), HasSubstr(ICON_WARNING)) << "and says why";
    save_as(ctx, dir_ / "runs.csv");
    EXPECT_THAT(text_of(dir_ / "runs.csv"), StartsWith("finished_at,kernel,config,"));
    EXPECT_FALSE(ctx->ItemExists("//Save/##file"));
  });
}

}  // namespace
}  // namespace attnscope::ui
