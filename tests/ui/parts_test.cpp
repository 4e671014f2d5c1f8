// Parts of the window that a recording of its look does not show: the choice of a layout, fonts, what fits, tooltips.
#include <imgui_internal.h>

#include "support/temp_dir.h"
#include "ui/display/colour_ramp.h"
#include "ui/layout.h"
#include "ui/panels/code_state.h"
#include "ui/preset_dialogs.h"
#include "ui/still_session.h"
#include "ui/widgets/map_view.h"
#include "ui/widgets/text.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Layout, FollowsTheWindowsSizeInBothDirections) {
  EXPECT_EQ(layout_for({59, 100}), LayoutKind::narrow);
  EXPECT_EQ(layout_for({60, 100}), LayoutKind::small);
  EXPECT_EQ(layout_for({79, 100}), LayoutKind::small);
  EXPECT_EQ(layout_for({200, 41}), LayoutKind::small);
  EXPECT_EQ(layout_for({80, 42}), LayoutKind::usual);
  EXPECT_EQ(layout_for({124, 100}), LayoutKind::usual);
  EXPECT_EQ(layout_for({200, 61}), LayoutKind::usual);
  EXPECT_EQ(layout_for({125, 62}), LayoutKind::large);
}

TEST(Theme, TheTextFontIsTheDefaultWhateverWasLoadedBefore) {
  ImGuiContext* const before = ImGui::GetCurrentContext();
  ImGuiContext* const context = ImGui::CreateContext();
  ImGui::SetCurrentContext(context);
  ImGui::GetIO().Fonts->AddFontDefault();
  const Result<void> loaded = load_fonts(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets");
  EXPECT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(ImGui::GetIO().FontDefault, fonts().text);
  ImGui::DestroyContext(context);
  ImGui::SetCurrentContext(before);
}

TEST(ColourRamp, EndsAreDarkAndPaleAndEveryColourIsOpaque) {
  for (const Ramp ramp : {Ramp::rising, Ramp::diverging}) {
    const auto& colours = colour_ramp(ramp);
    for (size_t at = 3; at < colours.size(); at += 4) ASSERT_EQ(colours[at], 255) << at / 4;
  }
  const auto sum = [](Ramp ramp, size_t at) {
    const auto& c = colour_ramp(ramp);
    return int{c[4 * at]} + int{c[4 * at + 1]} + int{c[4 * at + 2]};
  };
  EXPECT_LT(sum(Ramp::rising, 0), 100);
  EXPECT_GT(sum(Ramp::rising, 255), 600);
  EXPECT_GT(sum(Ramp::diverging, 127), 690) << "its middle is pale";
  EXPECT_LT(sum(Ramp::diverging, 0), 350);
  EXPECT_LT(sum(Ramp::diverging, 255), 350);
  const auto& diverging = colour_ramp(Ramp::diverging);
  EXPECT_GT(diverging[2], diverging[0]) << "blue";
  EXPECT_GT(diverging[255 * 4], diverging[255 * 4 + 2]) << "orange";
}

TEST(PresetName, EveryTitleMakesAFileName) {
  EXPECT_EQ(file_name_of("Tiled, eight warps"), "tiled-eight-warps");
  EXPECT_EQ(file_name_of("  (B=4)  "), "b-4");
  EXPECT_EQ(file_name_of("A--b!"), "a-b");
  EXPECT_EQ(file_name_of("../x"), "x");
  for (const char* none : {"", "-", "\u00b5\u00b5", "..."}) EXPECT_EQ(file_name_of(none), "preset") << none;
}

// Twelve lines; the sixth differs. The changes are one letter per line.
TEST(Edits, AreShownWithThreeLinesAround) {
  const auto text = [](const std::string& sixth, const char* end = "\n") {
    std::string all;
    for (int line = 1; line <= 12; ++line) all += (line == 6 ? sixth : "line " + std::to_string(line)) + end;
    return all;
  };
  CodeState state;
  const auto kinds = [&](const std::string& before, const std::string& now) {
    std::string letters;
    for (const ChangeLine& line : state.edits(before, now)) {
      using Kind = ChangeLine::Kind;
      letters += line.kind == Kind::heading   ? 'h'
                 : line.kind == Kind::gap     ? '.'
                 : line.kind == Kind::same    ? '='
                 : line.kind == Kind::removed ? '-'
                                              : '+';
    }
    return letters;
  };
  EXPECT_EQ(kinds(text("old"), text("new")), "h.===-+===");
  const std::vector<ChangeLine>& lines = state.edits(text("old"), text("new"));
  EXPECT_EQ(lines[0].text, "Source, since it was copied: 1 removed, 1 added");
  EXPECT_EQ(lines[2].text, "line 3");
  EXPECT_EQ(lines[2].line, 3);
  EXPECT_EQ(lines[5].text, "old");
  EXPECT_EQ(lines[5].line, 0) << "it is not in the source any more";
  EXPECT_EQ(lines[6].text, "new");
  EXPECT_EQ(lines[6].line, 6);
  EXPECT_EQ(lines[7].line, 7);
  EXPECT_EQ(kinds("a\nb\n", "a\nc\n"), "h=-+") << "from the first line on there is no gap";
  EXPECT_EQ(kinds(text("old"), text("old", "\r\n")), "h") << "line ends are no change";
  EXPECT_EQ(kinds("a\n", "b\n"), "h-+") << "and not what was compared before";
}

// What `draw` writes into a window that is 200 pixels wide.
std::string written(const std::function<void()>& draw) {
  const auto screen = Offscreen::create({640, 480}, ATTNSCOPE_SOURCE_DIR);
  if (!screen) return screen.error().message;
  std::string heard;
  for (int frame = 0; frame < 2; ++frame) {
    (*screen)->begin_frame();
    ImGui::SetNextWindowSize({200, 400});
    ImGui::Begin("test", nullptr, ImGuiWindowFlags_NoTitleBar);
    ImGui::LogToBuffer();
    draw();
    heard = ImGui::GetCurrentContext()->LogBuffer.c_str();
    ImGui::LogFinish();
    ImGui::End();
    (*screen)->end_frame(false);
  }
  return heard;
}

TEST(Text, IsCutOnlyWhereItDoesNotFit) {
  const std::string words = "one two three four five six seven eight nine ten eleven twelve";
  const auto fitted = [&](const std::string& whole, float lines) {
    return written([&] { wrapped_to_fit(whole, palette().text, 0, lines * ImGui::GetFontSize()); });
  };
  EXPECT_THAT(fitted("one line", 0), HasSubstr("one line"));  // one line is always shown
  EXPECT_THAT(fitted("one line", 1), HasSubstr("one line"));
  EXPECT_THAT(fitted(words, 20), HasSubstr("twelve"));
  const std::string cut = fitted(words, 1);
  EXPECT_THAT(cut, HasSubstr("one two"));
  EXPECT_THAT(cut, HasSubstr("\u2026"));
  EXPECT_THAT(cut, Not(HasSubstr("twelve")));
}

class Hover : public WindowFlow {
 protected:
  void open(session::Snapshot snapshot, ShotSize size) {
    session_ = std::make_unique<StillSession>(std::move(snapshot));
    open_window(size);
    bench_->ignore_kept_settings();
  }
  static size_t count(const std::string& text, const std::string& words) {
    size_t found = 0;
    for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
  }
};

TEST_F(Hover, WhyACommandCannotRunIsOnItsButton) {
  session::Snapshot snapshot = snapshot_after({"m32_w4"});
  snapshot.focus.wanted.device = "box/cuda:0";
  open(std::move(snapshot), {1600, 900});
  flow([&](ImGuiTestContext* ctx) {
    ctx->Yield(8);
    ctx->MenuClick("//##MainMenuBar/Run/Export this config\u2026");
    ctx->MouseTeleportToPos({800, 890});
    ctx->Yield(4);
    EXPECT_EQ(count(drawn_words(ctx), "another machine"), 1u);
    ctx->MouseTeleportToPos(ctx->ItemInfo("//###Command/###run").RectFull.GetCenter());
    ctx->Yield(4);
    EXPECT_EQ(count(drawn_words(ctx), "another machine"), 2u);
  });
}

TEST_F(Hover, TheAttentionMapNamesTheTilesOfAKernelThatHasTiles) {
  for (const bool tiled : {true, false}) {
    close();
    open(snapshot_after({tiled ? "m32_w4" : "minimal"}), {2560, 1440});
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(20);
      const MapView& map = bench_->map_of(MapKind::attention);
      ASSERT_NE(map.tile(), nullptr);
      ctx->MouseTeleportToPos({map.place().x + map.size().x * 0.501f, map.place().y + map.size().y * 0.501f});
      ctx->Yield(4);
      const std::string words = drawn_words(ctx);
      EXPECT_EQ(count(words, "CTA 8 of this head: rows 256\u2013287"), tiled ? 1u : 0u);
      EXPECT_EQ(count(words, "tile 4 of its walk: keys 256\u2013319"), tiled ? 1u : 0u);
      EXPECT_EQ(count(words, " of its walk"), tiled ? 1u : 0u);
    });
  }
}

}  // namespace
}  // namespace attnscope::ui
