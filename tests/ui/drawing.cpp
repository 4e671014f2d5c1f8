#include "ui/drawing.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr size_t kMostPlaces = 6;  // shapes of one colour and size; beyond this many the outline is enough

std::string role_of(ImU32 colour) {
  const Palette& p = palette();
  const std::vector<std::pair<ImU32, std::string>> roles = {
      {p.window, "window"},     {p.panel, "panel"},         {p.raised, "raised"},     {p.hover, "hover"},
      {p.line, "line"},         {p.text, "text"},           {p.dim, "dim"},           {p.faint, "faint"},
      {p.accent, "accent"},     {p.on_accent, "on_accent"}, {p.measured, "measured"}, {p.good, "good"},
      {p.modelled, "modelled"}, {p.reported, "reported"},   {p.bad, "bad"},           {p.warn, "warn"}};
  const ImU32 opaque = colour | IM_COL32_A_MASK;
  std::string name;
  for (const auto& [own, role] : roles)
    if (own == opaque && name.empty()) name = role;
  for (size_t at = 0; at < std::size(p.buffers) && name.empty(); ++at)
    if (p.buffers[at] == opaque) name = fmt::format("buffer{}", at);
  if (name.empty()) {
    const auto channel = [&](int shift) { return colour >> shift & 0xFF; };
    name = fmt::format("#{:02x}{:02x}{:02x}", channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT),
                       channel(IM_COL32_B_SHIFT));
  }
  const double alpha = static_cast<double>(colour >> IM_COL32_A_SHIFT & 0xFF);
  return alpha == 255 ? name : fmt::format("{}*{:.0f}", name, alpha / 2.55);
}

// The fringe of a shape lies half a pixel outside it, within the rounding error of an inverse square root on this
// processor.
int whole(float pixels) { return static_cast<int>(std::floor(pixels + 0.515f)); }

struct Box {
  float left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
  void add(ImVec2 at) {
    left = std::min(left, at.x), right = std::max(right, at.x);
    top = std::min(top, at.y), bottom = std::max(bottom, at.y);
  }
  void add(const Box& other) { add(ImVec2{other.left, other.top}), add(ImVec2{other.right, other.bottom}); }
};

struct Glyph {
  const ImFontBaked* font = nullptr;
  const ImFontGlyph* glyph = nullptr;
};
using Glyphs = std::map<std::pair<float, float>, Glyph>;  // by the upper left corner in the font's texture

Glyphs glyphs() {
  Glyphs found;
  auto& fonts = ImGui::GetIO().Fonts->Builder->BakedPool;
  for (int at = 0; at < fonts.Size; ++at) {
    if (fonts[at].WantDestroy) continue;
    for (const ImFontGlyph& glyph : fonts[at].Glyphs)
      if (glyph.Visible) found[{glyph.U0, glyph.V0}] = {&fonts[at], &glyph};
  }
  return found;
}

// Collects what one part draws.
class Part {
 public:
  explicit Part(const Glyphs& glyphs) : glyphs_(glyphs) {}

  // A shape's box grows while its triangles share corners.
  void triangle(const ImDrawVert* const (&corners)[3], const ImDrawIdx (&indices)[3], bool image) {
    end_words();
    const ImDrawIdx first = *std::min_element(indices, indices + 3);
    ImU32 colour = 0;
    for (const ImDrawVert* corner : corners) colour = std::max(colour, corner->col);  // the fringe of a shape is clear
    if (!shape_open_ || first > last_index_ || image != image_) {
      end_shape();
      shape_open_ = true;
      image_ = image;
      colour_ = 0;
      box_ = {};
      last_index_ = 0;
    }
    colour_ = std::max(colour_, colour);
    last_index_ = std::max(last_index_, *std::max_element(indices, indices + 3));
    for (const ImDrawVert* corner : corners) box_.add(corner->pos);
  }
  // Returns false if the quad is not a glyph.
  bool glyph(const ImDrawVert& low, const ImDrawVert& high) {
    const auto found = glyphs_.find({low.uv.x, low.uv.y});
    if (found == glyphs_.end()) return false;
    const auto& [font, glyph] = found->second;
    const float scale = (high.pos.x - low.pos.x) / (glyph->X1 - glyph->X0);
    const ImVec2 pen{low.pos.x - glyph->X0 * scale, low.pos.y - glyph->Y0 * scale};
    const float space = const_cast<ImFontBaked*>(font)->GetCharAdvance(' ') * scale, gap = pen.x - pen_.x;
    const bool goes_on = !words_.empty() && font == font_ && low.col == words_colour_ &&
                         std::fabs(pen.y - words_at_.y) < 0.5f && gap > -1 && gap < 3.5f * space;
    if (!goes_on) {
      end_words();
      words_at_ = pen;
      font_ = font;
      words_colour_ = low.col;
    } else {
      words_.append(static_cast<size_t>(std::max(std::lround(gap / space), 0L)), ' ');
    }
    char letter[5];
    ImTextCharToUtf8(letter, glyph->Codepoint);
    words_ += letter;
    pen_ = {pen.x + glyph->AdvanceX * scale, pen.y};
    return true;
  }
  std::set<std::string> lines() {
    end_words();
    end_shape();
    for (auto& [what, places] : shapes_) {
      const auto& [colour, width, height] = what;
      std::sort(places.begin(), places.end(), [](const Box& a, const Box& b) {
        return std::pair(whole(a.top), whole(a.left)) < std::pair(whole(b.top), whole(b.left));
      });
      std::string line = fmt::format("{} {}x{}", colour, width, height);
      if (places.size() > kMostPlaces) {
        Box all;
        for (const Box& place : places) all.add(place);
        line += fmt::format(", {} of them from {},{} to {},{}", places.size(), whole(all.left), whole(all.top),
                            whole(all.right), whole(all.bottom));
      } else {
        line += " at";
        for (const Box& place : places) line += fmt::format(" {},{}", whole(place.left), whole(place.top));
      }
      lines_.insert(line);
    }
    return lines_;
  }

 private:
  void end_shape() {
    if (shape_open_ && (image_ || colour_ >> IM_COL32_A_SHIFT != 0))
      shapes_[{(image_ ? "image " : "") + role_of(colour_), whole(box_.right - box_.left),
               whole(box_.bottom - box_.top)}]
          .push_back(box_);
    shape_open_ = false;
  }
  void end_words() {
    if (words_.empty()) return;
    lines_.insert(fmt::format("{} \"{}\" {:.0f} at {},{}", role_of(words_colour_), words_,
                              static_cast<double>(font_->Size), whole(words_at_.x), whole(words_at_.y)));
    words_.clear();
  }

  const Glyphs& glyphs_;
  std::map<std::tuple<std::string, int, int>, std::vector<Box>> shapes_;
  std::set<std::string> lines_;
  bool shape_open_ = false, image_ = false;
  ImU32 colour_ = 0, words_colour_ = 0;
  ImDrawIdx last_index_ = 0;
  Box box_;
  std::string words_;
  ImVec2 words_at_, pen_;
  const ImFontBaked* font_ = nullptr;
};

void collect(const ImDrawList& list, const ImDrawCmd& command, Part& part) {
  const bool image = command.TexRef._TexData == nullptr;  // the fonts' texture is Dear ImGui's own
  for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
    const ImDrawVert* corners[3];
    ImDrawIdx indices[3];
    for (unsigned corner = 0; corner < 3; ++corner) {
      indices[corner] = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + corner)];
      corners[corner] = &list.VtxBuffer[static_cast<int>(command.VtxOffset + indices[corner])];
    }
    if (!image && corners[0]->uv.x != corners[2]->uv.x && part.glyph(*corners[0], *corners[2])) {
      i += 3;  // a glyph is two triangles
      continue;
    }
    part.triangle(corners, indices, image);
  }
}

}  // namespace

Drawing last_frame(const std::string& prefix) {
  static const std::regex kHash("_[0-9A-F]{8}");
  const Glyphs known = glyphs();
  std::map<std::string, Part> parts;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists) {
    const std::string name =
        std::regex_replace(std::string(list->_OwnerName != nullptr ? list->_OwnerName : ""), kHash, "");
    if (!name.starts_with(prefix)) continue;
    Part& part = parts.try_emplace(name, known).first->second;
    for (const ImDrawCmd& command : list->CmdBuffer)
      if (command.UserCallback == nullptr) collect(*list, command, part);
  }
  Drawing drawing;
  for (auto& [name, part] : parts)
    if (auto lines = part.lines(); !lines.empty()) drawing[name] = std::move(lines);
  return drawing;
}

std::string as_text(const Drawing& drawing) {
  std::string text;
  for (const auto& [part, lines] : drawing) {
    text += part + "\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  return text;
}

Drawing drawing_from(const std::string& text) {
  Drawing drawing;
  std::istringstream lines(text);
  std::string part;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  "))
      drawing[part].insert(line.substr(2));
    else
      part = line;
  }
  return drawing;
}

}  // namespace attnscope::ui
