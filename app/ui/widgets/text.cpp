#include "ui/widgets/text.h"

#include <imgui_internal.h>

#include <algorithm>

namespace attnscope::ui {
namespace {

const char* begin_of(std::string_view words) { return words.data(); }
const char* end_of(std::string_view words) { return words.data() + words.size(); }
float stroke_of(float radius) { return std::max(1.5f, radius * 0.32f); }

}  // namespace

void text(std::string_view words) { ImGui::TextUnformatted(begin_of(words), end_of(words)); }

void dim_text(std::string_view words) {
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  text(words);
  ImGui::PopStyleColor();
}

void small_text(std::string_view words, ImU32 colour) {
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(words);
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void wrapped(std::string_view words, ImU32 colour, float size) {
  ImGui::PushFont(nullptr, size);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::PushTextWrapPos(0.0f);
  text(words);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void wrapped_to_fit(std::string_view words, ImU32 colour, float size, float height) {
  ImGui::PushFont(nullptr, size);
  const float width = ImGui::GetContentRegionAvail().x, least = ImGui::GetFontSize();
  const auto fits = [&](const std::string& shown) {
    return ImGui::CalcTextSize(shown.c_str(), nullptr, false, width).y <= std::max(height, least);
  };
  std::string shown(words);
  for (size_t end = words.size(); !fits(shown) && end > 0;) {
    end = words.rfind(' ', end - 1);
    if (end == std::string_view::npos) break;
    shown = std::string(words.substr(0, end)) + "\u2026";
  }
  ImGui::PopFont();
  wrapped(shown, colour, size);
  if (shown != words) tooltip(words);
}

float width_of(std::string_view words) { return ImGui::CalcTextSize(begin_of(words), end_of(words)).x; }

std::string shortened(std::string_view words, float width) {
  if (width_of(words) <= width) return std::string(words);
  static constexpr std::string_view kEllipsis = "\u2026";
  const float room = width - width_of(kEllipsis);
  size_t keep = 0;
  for (size_t at = 0; at < words.size();) {
    size_t next = at + 1;
    while (next < words.size() && (static_cast<unsigned char>(words[next]) & 0xC0) == 0x80)
      ++next;  // keeps UTF-8 characters whole
    if (width_of(words.substr(0, next)) > room) break;
    keep = at = next;
  }
  return std::string(words.substr(0, keep)) + std::string(kEllipsis);
}

void clipped(std::string_view words, float width, ImU32 colour) {
  const std::string fitting = shortened(words, width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(fitting);
  ImGui::PopStyleColor();
  if (fitting != words) tooltip(words);
}

void tooltip(std::string_view words) {
  if (words.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled))
    return;
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(em(24));
  text(words);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void text_tooltip(std::string_view words, float ems) {
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushFont(fonts().text, kBaseSize);
  ImGui::PushTextWrapPos(em(ems));
  text(words);
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
}

void explain(const Glossary& glossary, std::string_view word) { tooltip(glossary.find(word)); }

void term(const Glossary& glossary, std::string_view word, std::string_view shown, ImU32 colour) {
  if (shown.empty()) shown = word;
  ImGui::PushStyleColor(ImGuiCol_Text, colour != 0 ? colour : palette().dim);
  text(shown);
  ImGui::PopStyleColor();
  if (glossary.find(word).empty()) return;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const float dot = std::max(1.0f, em(0.07f));
  for (float x = low.x; x < high.x; x += dot * 3)
    ImGui::GetWindowDrawList()->AddRectFilled({x, high.y - dot}, {std::min(x + dot, high.x), high.y},
                                              with_alpha(palette().faint, ImGui::GetStyle().Alpha));
  explain(glossary, word);
}

void big_figure(std::string_view number, std::string_view unit, ImU32 colour) {
  ImGui::PushFont(fonts().strong, kLargeSize);
  const float width = width_of(number), room = ImGui::GetContentRegionAvail().x;
  ImGui::PopFont();
  // The text shrinks rather than being cut: "never-written read" in a narrow panel.
  const float size = width > room ? std::max(kMediumSize, kLargeSize * room / width) : kLargeSize;
  ImGui::PushFont(fonts().strong, size);
  const ImFontBaked* large = ImGui::GetFontBaked();
  const float large_ascent = large->Ascent;
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(number);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  if (unit.empty()) return;
  ImGui::SameLine(0, em(0.3f));
  ImGui::PushFont(fonts().text, kMediumSize);
  const float drop = large_ascent - ImGui::GetFontBaked()->Ascent;
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + drop);
  clipped(unit, ImGui::GetContentRegionAvail().x, palette().dim);
  ImGui::PopFont();
}

void draw_diamond(ImDrawList* list, ImVec2 c, float r, ImU32 colour) {
  list->AddQuad({c.x, c.y - r}, {c.x + r, c.y}, {c.x, c.y + r}, {c.x - r, c.y}, colour, stroke_of(r));
}

void draw_kind_mark(ImDrawList* list, ImVec2 c, float r, FigureKind kind, float alpha) {
  const ImU32 colour = with_alpha(colour_of(kind), alpha);
  const float stroke = stroke_of(r);
  switch (kind) {
    case FigureKind::measured:
      list->AddCircleFilled(c, r * 0.9f, colour);
      break;
    case FigureKind::counted:
      list->AddRectFilled({c.x - r * 0.8f, c.y - r * 0.8f}, {c.x + r * 0.8f, c.y + r * 0.8f}, colour);
      break;
    case FigureKind::modelled:
      draw_diamond(list, c, r, colour);
      break;
    case FigureKind::reported:
      for (int dash = -1; dash <= 1; ++dash) {
        const float x = c.x + static_cast<float>(dash) * r * 0.9f;
        list->AddRectFilled({x - r * 0.3f, c.y - stroke / 2}, {x + r * 0.3f, c.y + stroke / 2}, colour);
      }
      break;
  }
}

void kind_badge(const Glossary& glossary, FigureKind kind) {
  ImGui::PushFont(nullptr, kSmallSize);
  const std::string_view word = to_string(kind);
  const float r = em(0.33f), pad = em(0.45f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = em(1.45f);
  const ImVec2 size{pad * 2 + r * 2 + em(0.35f) + width_of(word), height};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha;
  const ImU32 colour = colour_of(kind);
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, with_alpha(colour, 0.13f * alpha), height / 2);
  draw_kind_mark(list, {at.x + pad + r, at.y + height / 2}, r, kind, alpha);
  list->AddText({at.x + pad + r * 2 + em(0.35f), at.y + (height - ImGui::GetFontSize()) / 2}, with_alpha(colour, alpha),
                begin_of(word), end_of(word));
  ImGui::PushID(static_cast<int>(kind));
  ImGui::InvisibleButton("##kind", size);
  ImGui::PopID();
  ImGui::PopFont();
  explain(glossary, word);
}

// The badge without its word, where there is room for the mark only.
void kind_mark_at_right(const Glossary& glossary, FigureKind kind, float room) {
  const float r = em(0.33f), wide = 2 * r + em(0.3f);
  if (room < wide) return ImGui::NewLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - wide);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_kind_mark(ImGui::GetWindowDrawList(), {at.x + wide / 2, at.y + em(1.15f)}, r, kind, ImGui::GetStyle().Alpha);
  ImGui::InvisibleButton("##kind", {wide, em(1.9f)});
  tooltip(fmt::format("{}: {}", to_string(kind), glossary.find(to_string(kind))));
}

void kind_badge_at_right(const Glossary& glossary, FigureKind kind) {
  ImGui::PushFont(nullptr, kSmallSize);
  const float wide = em(2.6f) + width_of(to_string(kind));
  ImGui::PopFont();
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionAvail().x;
  if (room < wide) return kind_mark_at_right(glossary, kind, room);
  ImGui::SetCursorPos({ImGui::GetCursorPosX() + room - wide + em(0.6f), ImGui::GetCursorPosY() + em(0.45f)});
  kind_badge(glossary, kind);
}

}  // namespace attnscope::ui
