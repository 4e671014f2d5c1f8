// Export from the window: plots, tables and runs as files, by the mouse and by the palette; each is read again.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ui/icons.h"
#include "ui/still_window.h"
#include "ui/theme.h"
#include "ui/widgets/map_view.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExportFlow : public WindowFlow {
 protected:
  static std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  // Right-clicks into the panel's lower part and chooses that item of the menu.
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
    ctx->ItemClick("//Latency/roofline");
    take(ctx, "Latency", "Save the figures as CSV\u2026");
    save_as(ctx, dir_ / "roofline.csv");
    const std::string roofline = text_of(dir_ / "roofline.csv");
    EXPECT_GT(std::count(roofline.begin(), roofline.end(), '\n'), 2) << "what is shown is what is saved";
    EXPECT_NE(roofline, csv);
    take(ctx, "Shared memory", "Save the figures as JSON\u2026");
    save_as(ctx, dir_ / "memory.json");
    EXPECT_GT(Json::parse(text_of(dir_ / "memory.json"), nullptr, false).size(), 1u);
    take(ctx, "Counters", "Copy the figures as CSV");
    EXPECT_THAT(ImGui::GetClipboardText(), StartsWith("group,figure,value,"));
  });
}

// Width and height from the PNG's header; 0 by 0: not a PNG.
std::pair<int, int> size_of_png(const std::string& png) {
  if (!png.starts_with("\x89PNG\r\n\x1a\n") || png.size() < 24) return {};
  const auto number = [&](size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<uint8_t>(png[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

TEST_F(ExportFlow, APanelLeavesAsAPicture) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const auto dialog = [&](const session::Snapshot&) { return ctx->ItemExists("//Save/##file"); };
    take(ctx, "Latency", "Save a picture as PNG\u2026");
    if (!wait(ctx, dialog, "the save dialog")) return;
    save_as(ctx, dir_ / "latency.png");
    const ImVec2 size = ctx->WindowInfo("//Latency").Window->Size;
    const auto [width, height] = size_of_png(text_of(dir_ / "latency.png"));
    EXPECT_NEAR(width, size.x, 1);
    EXPECT_NEAR(height, size.y, 1);
    // The palette also reaches a panel that is behind others.
    bench_->open_panel("History");
    ctx->Yield(8);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(4);
    ctx->KeyChars("picture of Counters");
    ctx->Yield(4);
    ctx->KeyPress(ImGuiKey_Enter);
    if (!wait(ctx, dialog, "the save dialog")) return;
    save_as(ctx, dir_ / "counters.png");
    EXPECT_GT(size_of_png(text_of(dir_ / "counters.png")).first, 100);
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
    take(ctx, "Error", "Save the plot as SVG\u2026");
    save_as(ctx, dir_ / "map.svg");
    EXPECT_THAT(text_of(dir_ / "map.svg"), StartsWith("<svg"));
    EXPECT_THAT(text_of(dir_ / "map.svg"), HasSubstr("crispEdges"));
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

// Answers every request for a map with one tile.
struct OneTile : StillSession {
  explicit OneTile(session::Snapshot snapshot) : StillSession(std::move(snapshot)) { tile = given; }
  static inline std::shared_ptr<const Tile> given;
};

class MapPicture : public StillWindow {
 protected:
  // The picture that is saved of an error map with these texels.
  charts::Figure picture_of(Tile tile) {
    OneTile::given = std::make_shared<const Tile>(std::move(tile));
    open_still<OneTile>(snapshot_after({"m32_w4"}), {1600, 900}, "Error");
    return bench_->map_of(MapKind::error).figure(kLook, 512, 64, "map");
  }
  // Every value is the least of the look, but for those of `others`.
  static Tile tile_of(int width, int height, const std::map<std::pair<int, int>, float>& others) {
    Tile tile;
    tile.width = width;
    tile.height = height;
    tile.values.assign(static_cast<size_t>(width) * static_cast<size_t>(height), kLook.low);
    for (const auto& [at, value] : others) tile.values[static_cast<size_t>(at.second * width + at.first)] = value;
    tile.ready_rows.assign(static_cast<size_t>(height), 1);
    return tile;
  }
  static constexpr MapLook kLook{};
};

// A map that stays on the GPU has a value for each element; a picture with a rectangle for each would not open.
TEST_F(MapPicture, ASideHasAtMost1024CellsAndEachShowsItsLargestValue) {
  const charts::Figure made =
      picture_of(tile_of(1025, 3, {{{5, 1}, kLook.high}, {{9, 0}, kLook.high}, {{8, 1}, std::nanf("")}}));
  EXPECT_EQ(made.raster.width, 513U);
  ASSERT_EQ(made.raster.height, 2U);
  ASSERT_EQ(made.raster.colours.size(), 2U * 513);
  EXPECT_THAT(made.note, HasSubstr("each cell is the largest of 2 x 2 values"));
  const auto& colours = made.raster.colours;
  const uint32_t least = colours[0], nan = colours[4];
  EXPECT_NE(colours[2], least) << "the largest is at its lower right";
  EXPECT_NE(nan, least) << "a value that is no number counts before every other";
  EXPECT_NE(nan, colours[2]);
  EXPECT_EQ(std::ranges::count(colours, least), 2 * 513 - 2);
  ASSERT_EQ(made.sheet.rows.size(), 3U) << "the table keeps every value";
  EXPECT_EQ(made.sheet.rows[1].size(), 1026U);
  EXPECT_EQ(made.sheet.rows[1][6], charts::Cell(static_cast<double>(kLook.high)));
}

TEST_F(MapPicture, AMapOf1024HasACellForEachValue) {
  const charts::Figure made = picture_of(tile_of(3, 1024, {}));
  EXPECT_EQ(made.raster.width, 3U);
  EXPECT_EQ(made.raster.height, 1024U);
  EXPECT_THAT(made.note, Not(HasSubstr("largest")));
}

}  // namespace
}  // namespace attnscope::ui
