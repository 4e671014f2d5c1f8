#pragma once
#include <imgui.h>

#include <filesystem>
#include <string>

#include "core/observation.h"
#include "core/result.h"

namespace attnscope::ui {

// black and white are the high-contrast themes with that background.
enum class ThemeMode { dark, light, black, white };
constexpr bool is_dark(ThemeMode mode) { return mode == ThemeMode::dark || mode == ThemeMode::black; }
constexpr bool is_contrast(ThemeMode mode) { return mode == ThemeMode::black || mode == ThemeMode::white; }
constexpr ThemeMode theme_of(bool dark, bool contrast) {
  return contrast ? (dark ? ThemeMode::black : ThemeMode::white) : dark ? ThemeMode::dark : ThemeMode::light;
}

// The window's colours by role. Series and verdicts use hues that people with the common colour-vision deficiencies can
// distinguish (after the palette of Okabe and Ito, jfly.uni-koeln.de/color, lightened or darkened for contrast), and
// every use also has a shape or a word.
struct Palette {
  ImU32 window, panel, raised, hover, line;
  ImU32 text, dim, faint;
  ImU32 accent, on_accent;
  ImU32 measured, counted, modelled, reported;
  ImU32 good, bad, warn;
  ImU32 buffers[8];  // shared memory by buffer; neighbours also differ in lightness
  ImU32 nan, inf, not_yet;
};

const Palette& palette();  // of the current theme
const Palette& palette_of(ThemeMode mode);
ThemeMode theme_mode();
// Sets colours and metrics of Dear ImGui and ImPlot with sizes for scale 1; the caller scales the style afterwards.
void apply_theme(ThemeMode mode);

ImU32 colour_of(FigureKind kind);
ImU32 with_alpha(ImU32 colour, float alpha);  // multiplies the alpha
ImU32 mixed(ImU32 from, ImU32 to, float share);
inline ImVec4 as_vec(ImU32 colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

// Fonts. Sizes are in points of scale 1; Dear ImGui applies zoom and DPI.
struct Fonts {
  ImFont* text = nullptr;
  ImFont* strong = nullptr;
  ImFont* mono = nullptr;
};
inline constexpr float kBaseSize = 15.0f;
inline constexpr float kSmallSize = 12.5f;
inline constexpr float kMediumSize = 19.0f;
inline constexpr float kLargeSize = 34.0f;

// Loads the fonts of `assets`/fonts into the current context's atlas. Dear ImGui's default font replaces one that
// cannot be read, and the Failure (Stage::store) names it.
Result<void> load_fonts(const std::filesystem::path& assets);
const Fonts& fonts();

// `lengths` times the height of the text, in pixels at the current font size.
inline float em(float lengths) { return lengths * ImGui::GetFontSize(); }
inline float f32(double value) { return static_cast<float>(value); }

}  // namespace attnscope::ui
