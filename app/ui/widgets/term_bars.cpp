#include "ui/widgets/term_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::TermRow;
using charts::TermTable;

// Black or white, whichever has the higher contrast.
ImU32 ink_on(ImU32 colour) {
  const ImVec4 c = as_vec(colour);
  const auto linear = [](float part) { return std::pow(part, 2.2f); };
  const float light = 0.2126f * linear(c.x) + 0.7152f * linear(c.y) + 0.0722f * linear(c.z);
  return light > 0.179f ? IM_COL32(0, 0, 0, 255) : IM_COL32(255, 255, 255, 255);
}

struct Place {
  float left = 0, top = 0, width = 0, height = 0;  // for the whole scale
};

std::optional<TermKind> bar(const TermTable& table, bool of_a, const Place& place, std::optional<TermKind> chosen,
                            const Glossary& glossary) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha;
  const double pixels = static_cast<double>(place.width) / std::max({table.a, table.b, 1e-9});
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImGui::SetCursorScreenPos({place.left, place.top});
  ImGui::PushID(of_a ? "A" : "B");
  const bool clicked = ImGui::InvisibleButton("##bar", {place.width, place.height});
  const bool hovered = ImGui::IsItemHovered();
  ImGui::PopID();
  std::optional<TermKind> answer;
  double at = 0;
  for (const TermRow& row : charts::in_bar_order(table.rows)) {
    const double us = of_a ? row.a : row.b;
    const float left = place.left + f32(at * pixels), right = place.left + f32((at + us) * pixels);
    at += us;
    if (us <= 0) continue;
    const ImU32 colour = colour_of(row.kind);
    const float gap = right - left > 3 ? 1.0f : 0.0f, bottom = place.top + place.height;
    list->AddRectFilled({left, place.top}, {std::max(right - gap, left + 0.5f), bottom},
                        with_alpha(colour, of_a ? 0.6f * alpha : alpha));
    if (chosen == row.kind)
      list->AddRect({left, place.top - 1}, {right, bottom + 1}, palette().text, 0, std::max(1.5f, em(0.1f)));
    const std::string words(to_string(row.kind));
    if (!of_a && width_of(words) + em(0.6f) < right - left)
      list->AddText({left + em(0.3f), place.top + (place.height - ImGui::GetFontSize()) / 2}, ink_on(colour),
                    words.c_str());
    if (!hovered || mouse.x < left || mouse.x >= right) continue;
    if (ImGui::BeginTooltip()) {
      term_tooltip(table, row, glossary);
      ImGui::EndTooltip();
    }
    if (clicked) answer = row.kind;
  }
  return answer;
}

}  // namespace

// One colour for each group of terms, so that a term keeps its colour from run to run.
ImU32 colour_of(TermKind kind) {
  const Palette& p = palette();
  switch (kind) {
    case TermKind::launch:
    case TermKind::tail:
    case TermKind::other:
      return p.faint;
    case TermKind::issue:
      return p.buffers[0];
    case TermKind::shared_wavefronts:
      return p.buffers[2];
    case TermKind::bank_conflicts:
      return p.buffers[3];
    case TermKind::l1_lines:
    case TermKind::l2_bandwidth:
    case TermKind::dram_bandwidth:
    case TermKind::atomics:
      return p.buffers[4];
    case TermKind::instruction_latency:
    case TermKind::tensor_latency:
    case TermKind::mufu_latency:
    case TermKind::shuffle_latency:
    case TermKind::constant_latency:
    case TermKind::jumps:
    case TermKind::instruction_fetch:
      return p.buffers[5];
    case TermKind::shared_latency:
    case TermKind::global_latency:
    case TermKind::local_latency:
      return p.buffers[6];
    case TermKind::barriers:
      return p.buffers[7];
    default:
      return p.buffers[1];  // waits for a pipe
  }
}

void term_tooltip(const TermTable& table, const TermRow& row, const Glossary& glossary) {
  ImGui::PushFont(fonts().strong, 0);
  text(to_string(row.kind));
  ImGui::PopFont();
  const auto share = [](double us, double of) { return of > 0 ? charts::percent_text(us / of) : std::string("0 %"); };
  if (table.against)
    text(fmt::format("A {} ({}), B {} ({})", charts::us_text(row.a), share(row.a, table.a), charts::us_text(row.b),
                     share(row.b, table.b)));
  else
    text(fmt::format("{}, {} of the time", charts::us_text(row.b), share(row.b, table.b)));
  ImGui::PushTextWrapPos(em(24));
  dim_text(glossary.find(word_of(row.kind)));
  ImGui::PopTextWrapPos();
}

std::optional<TermKind> term_bars(const TermTable& table, std::optional<TermKind> chosen, const Glossary& glossary) {
  ImGui::PushFont(nullptr, kSmallSize);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float letter = width_of("B") + em(0.7f), height = em(1.9f), thin = em(1.2f), gap = em(0.25f);
  const float total = std::max(width_of(charts::us_text(table.a)), width_of(charts::us_text(table.b))) + em(0.5f);
  const float width = std::max(em(4), ImGui::GetContentRegionAvail().x - letter - total);
  std::optional<TermKind> answer;
  float top = at.y;
  // A's line keeps its space even without an A, so that B's bar does not move when there is one.
  for (const bool of_a : {true, false}) {
    const float high = of_a ? thin : height;
    if (!of_a || table.against) {
      const float middle = top + (high - ImGui::GetFontSize()) / 2;
      const double us = of_a ? table.a : table.b;
      const float end = at.x + letter + width * f32(us / std::max({table.a, table.b, 1e-9}));
      ImDrawList* list = ImGui::GetWindowDrawList();
      list->AddText({at.x, middle}, palette().accent, of_a ? "A" : "B");
      if (const auto picked = bar(table, of_a, {at.x + letter, top, width, high}, chosen, glossary)) answer = picked;
      list->AddText({end + em(0.4f), middle}, of_a ? palette().dim : palette().text, charts::us_text(us).c_str());
    }
    top += high + gap;
  }
  ImGui::SetCursorScreenPos({at.x, top});
  ImGui::Dummy({0, 0});
  ImGui::PopFont();
  return answer;
}

}  // namespace attnscope::ui
