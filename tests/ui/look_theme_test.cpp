// The themes' colours and sizes, and the window in each of them.
#include <fmt/format.h>
#include <implot/implot.h>

#include <algorithm>

#include "ui/look.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

std::string hex(ImVec4 colour) { return fmt::format("{:08x}", ImGui::ColorConvertFloat4ToU32(colour)); }

// What apply_theme() sets for Dear ImGui and ImPlot.
std::set<std::string> style_of(ThemeMode mode) {
  apply_theme(mode);
  const ImGuiStyle& style = ImGui::GetStyle();
  const ImPlotStyle& plot = ImPlot::GetStyle();
  std::set<std::string> lines;
  for (int at = 0; at < ImGuiCol_COUNT; ++at)
    lines.insert(fmt::format("{} {}", ImGui::GetStyleColorName(at), hex(style.Colors[at])));
  for (int at = 0; at < ImPlotCol_COUNT; ++at)
    lines.insert(fmt::format("plot {} {}", ImPlot::GetStyleColorName(at), hex(plot.Colors[at])));
  const auto size = [&](const char* name, ImVec2 value) {
    lines.insert(fmt::format("{} {}x{}", name, value.x, value.y));
  };
  const auto number = [&](const char* name, float value) { lines.insert(fmt::format("{} {}", name, value)); };
  size("window padding", style.WindowPadding);
  size("frame padding", style.FramePadding);
  size("item spacing", style.ItemSpacing);
  size("inner spacing", style.ItemInnerSpacing);
  size("cell padding", style.CellPadding);
  size("separator padding", style.SeparatorTextPadding);
  number("scrollbar", style.ScrollbarSize);
  number("grab", style.GrabMinSize);
  number("window rounding", style.WindowRounding);
  number("child rounding", style.ChildRounding);
  number("frame rounding", style.FrameRounding);
  number("popup rounding", style.PopupRounding);
  number("grab rounding", style.GrabRounding);
  number("tab rounding", style.TabRounding);
  number("window border", style.WindowBorderSize);
  number("frame border", style.FrameBorderSize);
  number("popup border", style.PopupBorderSize);
  number("tab border", style.TabBorderSize);
  number("indent", style.IndentSpacing);
  number("docking separator", style.DockingSeparatorSize);
  number("separator border", style.SeparatorTextBorderSize);
  number("disabled", style.DisabledAlpha);
  number("font", style.FontSizeBase);
  size("plot padding", plot.PlotPadding);
  size("plot labels", plot.LabelPadding);
  size("plot ticks", plot.MajorTickLen);
  size("plot minor ticks", plot.MinorTickLen);
  number("plot border", plot.PlotBorderSize);
  number("plot minor", plot.MinorAlpha);
  return lines;
}

TEST_F(Look, OfTheThemes) {
  const auto screen = Offscreen::create({320, 240}, ATTNSCOPE_SOURCE_DIR);
  ASSERT_TRUE(screen);
  Drawing themes;
  for (const auto& [mode, word] : Words<ThemeMode>::table) {
    themes[std::string(word)] = style_of(mode);
    const Palette& p = palette_of(mode);
    const auto* const first = reinterpret_cast<const ImU32*>(&p);
    for (size_t at = 0; at < sizeof(Palette) / sizeof(ImU32); ++at)
      themes[std::string(word)].insert(fmt::format("palette {:02} {:08x}", at, first[at]));
  }
  expect_as_recorded("themes", themes);
}

TEST_F(Look, OfColoursBetweenAndBeyond) {
  constexpr ImU32 kFrom = IM_COL32(0, 100, 200, 255), kTo = IM_COL32(200, 0, 100, 55);
  EXPECT_EQ(mixed(kFrom, kTo, 0), kFrom);
  EXPECT_EQ(mixed(kFrom, kTo, 1), kTo);
  EXPECT_EQ(mixed(kFrom, kTo, 0.5f), IM_COL32(100, 50, 150, 155));
  EXPECT_EQ(with_alpha(kFrom, 1), kFrom);
  EXPECT_EQ(with_alpha(kFrom, 0.5f), IM_COL32(0, 100, 200, 128));
  EXPECT_EQ(with_alpha(kTo, 0.5f), IM_COL32(200, 0, 100, 28));
  EXPECT_EQ(with_alpha(kTo, 0), IM_COL32(200, 0, 100, 0));
}

// Zoomed and in high contrast, where edges and sizes differ.
TEST_F(Look, OfHighContrastAndZoom) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900}, ThemeMode::black, 1.3f);
  const Drawing zoomed = last_frame();
  close();
  open(snapshot_after({"m32_w4", "m32_w8"}), {1280, 720}, ThemeMode::white, 0.8f);
  Drawing both;
  for (const auto& [part, lines] : zoomed) both["black: " + part] = lines;
  for (const auto& [part, lines] : last_frame()) both["white: " + part] = lines;
  for (auto& [part, lines] : both)
    std::erase_if(lines, [](const std::string& line) { return line.find("frame ") != std::string::npos; });
  expect_as_recorded("contrast", both);
}

}  // namespace
}  // namespace attnscope::ui
