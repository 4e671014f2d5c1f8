#pragma once
#include <map>
#include <set>
#include <string>

namespace attnscope::ui {

// What a frame draws, as lines of text for each part of the window. Colours are named by their role in the theme,
// with the opacity in percent after a *; positions and sizes are in whole pixels, x,y and WxH.
//   raised 40x20 at 122,402 168,402        shapes of one colour and size; of many only how many, and from where to
//   where text "4 of 48 warps" 15 at 412,233     a line of text, the font's size, and its upper left corner
using Drawing = std::map<std::string, std::set<std::string>>;

// Describes the last frame of the current Dear ImGui context: the parts whose names begin with `prefix`.
Drawing last_frame(const std::string& prefix = "");

// Dear ImGui's own names of the parts, without its hashes.
std::string as_text(const Drawing& drawing);
Drawing drawing_from(const std::string& text);

}  // namespace attnscope::ui
