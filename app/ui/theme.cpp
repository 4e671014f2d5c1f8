#include "ui/theme.h"

#include <implot/implot.h>

#include <array>
#include <cstring>

#include "platform/atomic_file.h"
#include "ui/icons.h"

namespace attnscope::ui {
namespace {

constexpr ImU32 rgb(unsigned value) { return IM_COL32((value >> 16) & 0xFF, (value >> 8) & 0xFF, value & 0xFF, 255); }

constexpr Palette kDark = {.window = rgb(0x0B0E12),
                           .panel = rgb(0x12171D),
                           .raised = rgb(0x1C232C),
                           .hover = rgb(0x28323E),
                           .line = rgb(0x2B3541),
                           .text = rgb(0xE8EDF3),
                           .dim = rgb(0x9AA7B6),
                           .faint = rgb(0x8996A4),
                           .accent = rgb(0x4CC3D9),
                           .on_accent = rgb(0x04181D),
                           .measured = rgb(0x56B4E9),
                           .counted = rgb(0x3CC8A0),
                           .modelled = rgb(0xF0A53A),
                           .reported = rgb(0xD79BC4),
                           .good = rgb(0x3CC8A0),
                           .bad = rgb(0xFF7A4D),
                           .warn = rgb(0xF0C94A),
                           .buffers = {rgb(0x2F7FB8), rgb(0xE6A23C), rgb(0x3CB393), rgb(0xC987B8), rgb(0x8FD0F2),
                                       rgb(0xC9622E), rgb(0xE9DC74), rgb(0x7E8C9A)},
                           .nan = rgb(0xFF3DD0),
                           .inf = rgb(0xFFFFFF),
                           .not_yet = rgb(0x1C232C)};

constexpr Palette kLight = {.window = rgb(0xE4E8EC),
                            .panel = rgb(0xFAFBFC),
                            .raised = rgb(0xE9EDF1),
                            .hover = rgb(0xD9E0E7),
                            .line = rgb(0xCBD3DB),
                            .text = rgb(0x141A21),
                            .dim = rgb(0x4C5967),
                            .faint = rgb(0x5C6873),
                            .accent = rgb(0x006F85),
                            .on_accent = rgb(0xFFFFFF),
                            .measured = rgb(0x00689F),
                            .counted = rgb(0x006F52),
                            .modelled = rgb(0x925200),
                            .reported = rgb(0x8F4576),
                            .good = rgb(0x006F52),
                            .bad = rgb(0xB03500),
                            .warn = rgb(0x755A00),
                            .buffers = {rgb(0x2F7FB8), rgb(0xE6A23C), rgb(0x2F9E80), rgb(0xC078AC), rgb(0x7CC0E4),
                                        rgb(0xBE5622), rgb(0xD9C94E), rgb(0x8A96A2)},
                            .nan = rgb(0xD0009C),
                            .inf = rgb(0x000000),
                            .not_yet = rgb(0xDDE3E9)};

constexpr Palette kBlack = {.window = rgb(0x000000),
                            .panel = rgb(0x000000),
                            .raised = rgb(0x1E1E1E),
                            .hover = rgb(0x3A3A3A),
                            .line = rgb(0x8C8C8C),
                            .text = rgb(0xFFFFFF),
                            .dim = rgb(0xE4E4E4),
                            .faint = rgb(0xCFCFCF),
                            .accent = rgb(0x5CE1FF),
                            .on_accent = rgb(0x000000),
                            .measured = rgb(0x8CCBFF),
                            .counted = rgb(0x4DF0C0),
                            .modelled = rgb(0xFFC04D),
                            .reported = rgb(0xFFB5E5),
                            .good = rgb(0x4DF0C0),
                            .bad = rgb(0xFFA080),
                            .warn = rgb(0xFFE15C),
                            .buffers = {rgb(0x4FA3E0), rgb(0xFFC04D), rgb(0x4DF0C0), rgb(0xFFB5E5), rgb(0xBFE6FF),
                                        rgb(0xFF8A50), rgb(0xFFF08A), rgb(0xA8B4C0)},
                            .nan = rgb(0xFF5CDA),
                            .inf = rgb(0xFFFFFF),
                            .not_yet = rgb(0x1E1E1E)};

constexpr Palette kWhite = {.window = rgb(0xFFFFFF),
                            .panel = rgb(0xFFFFFF),
                            .raised = rgb(0xECECEC),
                            .hover = rgb(0xD2D2D2),
                            .line = rgb(0x6E6E6E),
                            .text = rgb(0x000000),
                            .dim = rgb(0x1E1E1E),
                            .faint = rgb(0x303030),
                            .accent = rgb(0x003E4D),
                            .on_accent = rgb(0xFFFFFF),
                            .measured = rgb(0x00396B),
                            .counted = rgb(0x00402F),
                            .modelled = rgb(0x5A2F00),
                            .reported = rgb(0x5C1F4A),
                            .good = rgb(0x00402F),
                            .bad = rgb(0x701F00),
                            .warn = rgb(0x453500),
                            .buffers = {rgb(0x1F6DA6), rgb(0xD08A1E), rgb(0x1E8A6C), rgb(0xB06098), rgb(0x6CB0D8),
                                        rgb(0xAE4612), rgb(0xC9B93E), rgb(0x6A7682)},
                            .nan = rgb(0xB00084),
                            .inf = rgb(0x000000),
                            .not_yet = rgb(0xECECEC)};

ThemeMode g_mode = ThemeMode::dark;
Fonts g_fonts;

void set_metrics(ImGuiStyle& style) {
  style.WindowPadding = {12, 10};
  style.FramePadding = {8, 4};
  style.CellPadding = {6, 3};
  style.ItemSpacing = {8, 5};
  style.ItemInnerSpacing = {6, 4};
  style.IndentSpacing = 16;
  style.ScrollbarSize = 11;
  style.GrabMinSize = 10;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 0;
  style.TabBorderSize = 0;
  style.TabBarBorderSize = 0;
  style.TabBarOverlineSize = 2;
  style.WindowRounding = 6;
  style.ChildRounding = 6;
  style.FrameRounding = 5;
  style.PopupRounding = 6;
  style.ScrollbarRounding = 6;
  style.GrabRounding = 4;
  style.TabRounding = 4;
  style.DockingSeparatorSize = 5;
  style.WindowTitleAlign = {0, 0.5f};
  style.SeparatorTextBorderSize = 1;
  style.SeparatorTextPadding = {0, 2};
  style.HoverDelayNormal = 0.35f;
}

void set_colours(ImGuiStyle& style, const Palette& p) {
  if (is_dark(g_mode))
    ImGui::StyleColorsDark(&style);
  else
    ImGui::StyleColorsLight(&style);
  const ImVec4 clear{0, 0, 0, 0};
  ImVec4* c = style.Colors;
  c[ImGuiCol_Text] = as_vec(p.text);
  c[ImGuiCol_TextDisabled] = as_vec(p.faint);
  c[ImGuiCol_WindowBg] = as_vec(p.panel);
  c[ImGuiCol_ChildBg] = clear;
  c[ImGuiCol_PopupBg] = as_vec(mixed(p.panel, p.raised, 0.6f));
  c[ImGuiCol_Border] = as_vec(p.line);
  c[ImGuiCol_BorderShadow] = clear;
  c[ImGuiCol_FrameBg] = as_vec(p.raised);
  c[ImGuiCol_FrameBgHovered] = as_vec(p.hover);
  c[ImGuiCol_FrameBgActive] = as_vec(p.hover);
  c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = c[ImGuiCol_TitleBgCollapsed] = as_vec(p.window);
  c[ImGuiCol_MenuBarBg] = as_vec(p.window);
  c[ImGuiCol_ScrollbarBg] = clear;
  c[ImGuiCol_ScrollbarGrab] = as_vec(p.line);
  c[ImGuiCol_ScrollbarGrabHovered] = c[ImGuiCol_ScrollbarGrabActive] = as_vec(p.faint);
  c[ImGuiCol_CheckMark] = as_vec(p.accent);
  c[ImGuiCol_CheckboxSelectedBg] = as_vec(p.raised);
  c[ImGuiCol_InputTextCursor] = as_vec(p.accent);
  c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = as_vec(with_alpha(p.accent, 0.55f));  // the value is over it
  c[ImGuiCol_Button] = as_vec(p.raised);
  c[ImGuiCol_ButtonHovered] = c[ImGuiCol_ButtonActive] = as_vec(p.hover);
  c[ImGuiCol_Header] = as_vec(mixed(p.panel, p.accent, 0.22f));
  c[ImGuiCol_HeaderHovered] = as_vec(p.hover);
  c[ImGuiCol_HeaderActive] = as_vec(p.hover);
  c[ImGuiCol_Separator] = as_vec(p.line);
  c[ImGuiCol_SeparatorHovered] = c[ImGuiCol_SeparatorActive] = as_vec(p.accent);
  c[ImGuiCol_ResizeGrip] = clear;
  c[ImGuiCol_ResizeGripHovered] = c[ImGuiCol_ResizeGripActive] = as_vec(p.accent);
  c[ImGuiCol_Tab] = c[ImGuiCol_TabDimmed] = as_vec(p.window);
  c[ImGuiCol_TabHovered] = as_vec(p.hover);
  c[ImGuiCol_TabSelected] = c[ImGuiCol_TabDimmedSelected] = as_vec(p.panel);
  c[ImGuiCol_TabSelectedOverline] = as_vec(p.accent);
  c[ImGuiCol_TabDimmedSelectedOverline] = as_vec(p.line);
  c[ImGuiCol_DockingPreview] = as_vec(with_alpha(p.accent, 0.4f));
  c[ImGuiCol_DockingEmptyBg] = as_vec(p.window);
  c[ImGuiCol_TableHeaderBg] = as_vec(p.raised);
  c[ImGuiCol_TableBorderStrong] = c[ImGuiCol_TableBorderLight] = as_vec(p.line);
  c[ImGuiCol_TableRowBg] = clear;
  c[ImGuiCol_TableRowBgAlt] = as_vec(with_alpha(p.raised, 0.45f));
  c[ImGuiCol_TextSelectedBg] = as_vec(with_alpha(p.accent, 0.35f));
  c[ImGuiCol_DragDropTarget] = as_vec(p.accent);
  c[ImGuiCol_NavCursor] = as_vec(p.accent);
  c[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, 0.5f};
}

void set_plot_colours(const Palette& p) {
  ImPlotStyle& style = ImPlot::GetStyle();
  ImVec4* c = style.Colors;
  c[ImPlotCol_FrameBg] = c[ImPlotCol_PlotBorder] = c[ImPlotCol_AxisBg] = {0, 0, 0, 0};
  c[ImPlotCol_PlotBg] = as_vec(mixed(p.panel, p.window, 0.6f));
  c[ImPlotCol_AxisText] = as_vec(p.dim);
  c[ImPlotCol_AxisGrid] = as_vec(with_alpha(p.line, 0.8f));
  c[ImPlotCol_AxisTick] = as_vec(p.line);
  c[ImPlotCol_AxisBgHovered] = c[ImPlotCol_AxisBgActive] = as_vec(p.raised);
  c[ImPlotCol_InlayText] = as_vec(p.text);
  style.PlotPadding = {4, 4};
  style.LabelPadding = {6, 4};
  style.PlotBorderSize = 0;
  style.MinorAlpha = 0.3f;
  style.MajorTickLen = {4, 4};
  style.MinorTickLen = {0, 0};
}

// The file's font at its base size, or Dear ImGui's default font if the file cannot be read.
Result<ImFont*> font_from(const std::filesystem::path& path, const ImFontConfig* config) {
  const Result<std::string> bytes = platform::read_file(path, 8 << 20);
  if (!bytes) return fail(bytes.error());
  void* copy = ImGui::MemAlloc(bytes->size());  // the atlas frees it
  std::memcpy(copy, bytes->data(), bytes->size());
  ImFont* font = ImGui::GetIO().Fonts->AddFontFromMemoryTTF(copy, static_cast<int>(bytes->size()), kBaseSize, config);
  if (font == nullptr)
    return fail(Stage::store, path.string() + ": not a font that can be drawn", "Install the program again.");
  return font;
}

}  // namespace

const Palette& palette_of(ThemeMode mode) {
  switch (mode) {
    case ThemeMode::dark:
      return kDark;
    case ThemeMode::light:
      return kLight;
    case ThemeMode::black:
      return kBlack;
    case ThemeMode::white:
      return kWhite;
  }
  return kDark;
}
const Palette& palette() { return palette_of(g_mode); }
ThemeMode theme_mode() { return g_mode; }
const Fonts& fonts() { return g_fonts; }

void apply_theme(ThemeMode mode) {
  g_mode = mode;
  ImGuiStyle& style = ImGui::GetStyle();
  const float dpi = style.FontScaleDpi, zoom = style.FontScaleMain;
  style = ImGuiStyle();
  style.FontScaleDpi = dpi;
  style.FontScaleMain = zoom;
  style.FontSizeBase = kBaseSize;
  set_metrics(style);
  if (is_contrast(mode)) style.FrameBorderSize = 1;  // so that a control is also visible by its edge
  set_colours(style, palette());
  set_plot_colours(palette());
  if (dpi > 1) style.ScaleAllSizes(dpi);
}

ImU32 colour_of(FigureKind kind) {
  const Palette& p = palette();
  switch (kind) {
    case FigureKind::measured:
      return p.measured;
    case FigureKind::counted:
      return p.counted;
    case FigureKind::modelled:
      return p.modelled;
    case FigureKind::reported:
      return p.reported;
  }
  return p.text;
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const float own = static_cast<float>((colour >> IM_COL32_A_SHIFT) & 0xFF);
  const ImU32 scaled = static_cast<ImU32>(own * alpha + 0.5f);
  return (colour & ~IM_COL32_A_MASK) | (scaled << IM_COL32_A_SHIFT);
}

ImU32 mixed(ImU32 from, ImU32 to, float share) {
  const ImVec4 a = as_vec(from), b = as_vec(to);
  return ImGui::ColorConvertFloat4ToU32(
      {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share, a.w + (b.w - a.w) * share});
}

Result<void> load_fonts(const std::filesystem::path& assets) {
  struct Wanted {
    ImFont** slot;
    const char* file;
    float icon_shift;  // downwards, so that icons are centred on the text
  };
  const std::array<Wanted, 3> wanted = {Wanted{&g_fonts.text, "Inter-Regular.otf", 1.0f},
                                        {&g_fonts.strong, "Inter-SemiBold.otf", 1.0f},
                                        {&g_fonts.mono, "JetBrainsMono-Regular.ttf", 1.0f}};
  Result<void> outcome;
  for (const Wanted& want : wanted) {
    Result<ImFont*> font = font_from(assets / "fonts" / want.file, nullptr);
    if (!font) outcome = fail(font.error());
    *want.slot = font ? *font : ImGui::GetIO().Fonts->AddFontDefault();
    ImFontConfig merge;
    merge.MergeMode = true;
    merge.GlyphOffset = {0, want.icon_shift};
    static const ImWchar kIconRange[] = {kFirstIcon, kLastIcon, 0};
    merge.GlyphRanges = kIconRange;
    const Result<ImFont*> icons = font_from(assets / "fonts" / "fontawesome-webfont.ttf", &merge);
    if (!icons) outcome = fail(icons.error());
  }
  ImGui::GetIO().FontDefault = g_fonts.text;
  return outcome;
}

}  // namespace attnscope::ui
