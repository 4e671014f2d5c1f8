#include "ui/widgets/memory_gauge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "charts/format.h"
#include "ui/theme.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::MemoryMark;
using charts::MemorySegment;
using charts::MemoryStack;

ImU32 segment_colour(const MemorySegment& segment, size_t at) {
  return segment.padding ? palette().faint : palette().buffers[at % std::size(palette().buffers)];
}

struct Bar {
  ImVec2 low, high;
  double pixels_a_byte = 0;
  float x(int64_t bytes) const { return low.x + f32(static_cast<double>(bytes) * pixels_a_byte); }
};

void draw_cta(const Bar& bar, const MemoryStack& stack, int64_t offset, float alpha) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  alpha *= ImGui::GetStyle().Alpha;
  for (size_t at = 0; at < stack.segments.size(); ++at) {
    const MemorySegment& segment = stack.segments[at];
    const float left = bar.x(offset + segment.begin), right = bar.x(offset + segment.end);
    list->AddRectFilled({left, bar.low.y},
                        {std::max(right - (right - left > 3 ? 1.0f : 0.0f), left + 0.5f), bar.high.y},
                        with_alpha(segment_colour(segment, at), alpha));
    if (segment.dynamic)  // a band, not a colour, distinguishes it from static
      list->AddRectFilled({left, bar.high.y - em(0.22f)}, {right, bar.high.y},
                          with_alpha(palette().panel, 0.6f * alpha));
  }
  const float begin = bar.x(offset), end = bar.x(offset + stack.total_bytes + stack.reserved_bytes);
  list->AddRect({begin, bar.low.y - 1}, {end, bar.high.y + 1}, with_alpha(palette().text, 0.55f * alpha), em(0.12f));
}

// Labels above the bar are placed from right to left; `free_until` is where the previous one begins. A label without
// room is left out.
void draw_mark(const Bar& bar, const MemoryMark& mark, bool above, bool exceeded, float& free_until) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float x = std::floor(std::min(bar.x(mark.bytes), bar.high.x)) - (mark.bytes > 0 ? 0.5f : -0.5f);
  const float reach = em(0.3f);
  const ImU32 colour = exceeded ? palette().bad : palette().dim;
  list->AddLine({x, above ? bar.low.y - reach : bar.low.y}, {x, above ? bar.high.y : bar.high.y + reach}, colour,
                std::max(1.5f, em(0.1f)));
  const float width = width_of(mark.label);
  const float edge = above ? std::min(bar.high.x, free_until) : bar.high.x;
  if (edge - width < bar.low.x) return;
  const float left = std::clamp(x - width / 2, bar.low.x, edge - width);
  if (above) free_until = left - em(0.5f);
  const float top = above ? bar.low.y - reach - ImGui::GetFontSize() : bar.high.y + reach;
  list->AddText({left, top}, colour, mark.label.c_str());
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsWindowHovered() && mouse.x >= left && mouse.x < left + width && mouse.y >= top &&
      mouse.y < top + ImGui::GetFontSize())
    ImGui::SetTooltip("%s", mark.sentence.c_str());
}

void hover_bar(const Bar& bar, const MemoryStack& stack) {
  if (!ImGui::IsItemHovered() || bar.pixels_a_byte <= 0) return;
  const int64_t byte = static_cast<int64_t>((ImGui::GetIO().MousePos.x - bar.low.x) / bar.pixels_a_byte);
  const int64_t stride = stack.total_bytes + stack.reserved_bytes;
  const int64_t cta = stride > 0 ? byte / stride : 0;
  if (cta >= std::max<int64_t>(stack.ctas, 1)) {
    const int64_t used = stride * std::max<int64_t>(stack.ctas, 1);
    ImGui::SetTooltip("%s of the SM are free",
                      charts::bytes_text(std::max<int64_t>(stack.scale_bytes - used, 0)).c_str());
    return;
  }
  const int64_t within = byte - cta * stride;
  for (const MemorySegment& segment : stack.segments)
    if (within >= segment.begin && within < segment.end) {
      ImGui::SetTooltip("%s", fmt::format("CTA {}: {}, {}, {} from byte {}", cta + 1, segment.name,
                                          charts::bytes_text(segment.bytes()), segment.dynamic ? "dynamic" : "static",
                                          with_commas(segment.begin))
                                  .c_str());
      return;
    }
  ImGui::SetTooltip("CTA %d: %s reserved by the system", static_cast<int>(cta + 1),
                    charts::bytes_text(stack.reserved_bytes).c_str());
}

// One row of the legend. `segment` null: only A has the buffer.
struct LegendRow {
  const MemorySegment* segment = nullptr;
  std::string name, bytes;
};

std::vector<LegendRow> legend_rows(const MemoryStack& stack, const MemoryStack* a) {
  const bool mixed_kinds = stack.static_bytes > 0 && stack.dynamic_bytes > 0;  // otherwise the line above covers all
  const auto in = [](const MemoryStack& one, const MemorySegment& like) {
    return std::ranges::find(one.segments, like.name, &MemorySegment::name);
  };
  std::vector<LegendRow> rows;
  for (const MemorySegment& segment : stack.segments) {
    rows.push_back({&segment, segment.name + (segment.dynamic && mixed_kinds ? " (dynamic)" : ""),
                    charts::bytes_text(segment.bytes())});
    if (a == nullptr) continue;
    const auto before = in(*a, segment);
    const int64_t bytes = before == a->segments.end() ? 0 : before->bytes();
    if (bytes != segment.bytes()) rows.back().bytes += "; A " + (bytes == 0 ? "none" : charts::bytes_text(bytes));
  }
  if (a != nullptr)
    for (const MemorySegment& before : a->segments)
      if (in(stack, before) == stack.segments.end())
        rows.push_back({nullptr, before.name, "none; A " + charts::bytes_text(before.bytes())});
  return rows;
}

}  // namespace

void memory_gauge(const MemoryStack& stack, std::optional<int64_t> baseline_bytes) {
  ImGui::PushFont(nullptr, kSmallSize);
  const float label = ImGui::GetFontSize() + em(0.35f), height = em(2.3f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  Bar bar{{at.x, at.y + label}, {at.x + width, at.y + label + height}, 0};
  bar.pixels_a_byte = static_cast<double>(width) / static_cast<double>(std::max<int64_t>(stack.scale_bytes, 1));
  ImGui::Dummy({width, label});
  ImGui::SetCursorScreenPos(bar.low);
  ImGui::InvisibleButton("##gauge", {width, height});
  hover_bar(bar, stack);
  ImGui::GetWindowDrawList()->AddRectFilled(bar.low, bar.high, palette().raised, em(0.2f));
  const int64_t stride = stack.total_bytes + stack.reserved_bytes;
  const int64_t copies = std::clamp<int64_t>(stack.ctas, 1, 64);
  for (int64_t cta = copies; cta-- > 0;) draw_cta(bar, stack, cta * stride, cta == 0 ? 1.0f : 0.38f);
  if (baseline_bytes && *baseline_bytes != stack.total_bytes) {
    const int64_t end = std::min(*baseline_bytes + stack.reserved_bytes, stack.scale_bytes);
    const float x = std::floor(std::min(bar.x(end), bar.high.x - 2));
    ghost_dashes({x, bar.low.y}, height, bar.high.x - x);
  }
  float free_until = bar.high.x;
  for (size_t at_mark = stack.marks.size(); at_mark-- > 0;) {
    const MemoryMark& mark = stack.marks[at_mark];
    const bool exceeded = mark.kind == charts::LimitKind::static_block  ? stack.over_static
                          : mark.kind == charts::LimitKind::optin_block ? stack.over_optin
                                                                        : false;
    draw_mark(bar, mark, mark.kind != charts::LimitKind::sm_total, exceeded, free_until);
  }
  ImGui::SetCursorScreenPos({at.x, bar.high.y});
  ImGui::Dummy({width, label + em(0.1f)});
  ImGui::PopFont();
}

void memory_legend(const MemoryStack& stack, const MemoryStack* a) {
  ImGui::PushFont(nullptr, kSmallSize);
  const std::vector<LegendRow> all = legend_rows(stack, a);
  float widest = 0;
  for (const LegendRow& row : all) widest = std::max(widest, width_of(row.name) + width_of(row.bytes));
  const size_t columns = ImGui::GetContentRegionAvail().x > std::max(em(16), 2 * (widest + em(2.9f))) ? 2 : 1;
  const size_t rows = (all.size() + columns - 1) / columns;
  const float each = ImGui::GetContentRegionAvail().x / static_cast<float>(columns);
  const ImVec2 origin = ImGui::GetCursorPos();
  const float step = ImGui::GetFontSize() + em(0.28f);
  for (size_t at = 0; at < all.size(); ++at) {
    const LegendRow& row = all[at];
    const float x = origin.x + each * static_cast<float>(at / rows),
                y = origin.y + step * static_cast<float>(at % rows);
    ImGui::SetCursorPos({x, y});
    const ImVec2 pen = ImGui::GetCursorScreenPos();
    const float side = em(0.7f), middle = pen.y + ImGui::GetFontSize() / 2;
    const ImVec2 low{pen.x, middle - side / 2}, high{pen.x + side, middle + side / 2};
    if (row.segment != nullptr)
      ImGui::GetWindowDrawList()->AddRectFilled(
          low, high, with_alpha(segment_colour(*row.segment, at), ImGui::GetStyle().Alpha), em(0.12f));
    else
      ImGui::GetWindowDrawList()->AddRect(low, high, with_alpha(palette().faint, ImGui::GetStyle().Alpha), em(0.12f));
    ImGui::SetCursorPosX(x + em(1.1f));
    const float end = x + each - (columns > 1 ? em(0.9f) : 0);
    clipped(row.name, end - width_of(row.bytes) - x - em(1.6f),
            row.segment != nullptr ? palette().text : palette().dim);
    ImGui::SetCursorPos({end - width_of(row.bytes), y});
    dim_text(row.bytes);
  }
  ImGui::SetCursorPos({origin.x, origin.y + step * static_cast<float>(rows)});
  ImGui::Dummy({0, 0});
  ImGui::PopFont();
}

void warp_slots(int64_t slots, int64_t ctas, int64_t warps_a_cta, std::optional<int64_t> a) {
  if (slots <= 0) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = em(0.95f);
  const float pitch = width / static_cast<float>(slots), gap = std::max(1.0f, pitch * 0.18f);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha;
  const int64_t filled = std::min(slots, ctas * warps_a_cta);
  for (int64_t slot = 0; slot < slots; ++slot) {
    const float left = at.x + pitch * static_cast<float>(slot);
    const bool used = slot < filled;
    const int64_t cta = warps_a_cta > 0 ? slot / warps_a_cta : 0;
    const ImU32 colour = !used          ? palette().raised
                         : cta % 2 == 0 ? palette().accent
                                        : mixed(palette().accent, palette().panel, 0.35f);
    list->AddRectFilled({left, at.y}, {left + pitch - gap, at.y + height}, with_alpha(colour, alpha), em(0.1f));
  }
  ImGui::InvisibleButton("##slots", {width, height});
  tooltip(fmt::format("{} of the SM's {} warp slots are filled: {} CTAs of {} warps.{}", filled, slots, ctas,
                      warps_a_cta, a ? fmt::format(" A fills {}.", *a) : ""));
  if (!a || *a == filled) return;
  const float x = std::floor(std::min(at.x + pitch * static_cast<float>(*a), at.x + width - 2));
  ghost_dashes({x, at.y}, height, at.x + width - x);
}

void wave_rows(const Occupancy& occupancy) {
  if (occupancy.resident_ctas <= 0 || occupancy.total_ctas <= 0) return;
  ImGui::PushFont(nullptr, kSmallSize);
  const int64_t full = occupancy.total_ctas / occupancy.resident_ctas,
                rest = occupancy.total_ctas % occupancy.resident_ctas;
  struct Row {
    std::string name, says;
    int64_t ctas = 0;
  };
  std::vector<Row> rows;
  if (full > 2)
    rows.push_back({fmt::format("waves 1\u2013{}", full), fmt::format("{} each", with_commas(occupancy.resident_ctas)),
                    occupancy.resident_ctas});
  else
    for (int64_t wave = 1; wave <= full; ++wave)
      rows.push_back({fmt::format("wave {}", wave), with_commas(occupancy.resident_ctas), occupancy.resident_ctas});
  if (rest > 0) rows.push_back({fmt::format("wave {}", full + 1), with_commas(rest), rest});
  float label = 0, count = 0;  // the bars go between the widest texts
  for (const Row& row : rows) {
    label = std::max(label, width_of(row.name) + em(0.6f));
    count = std::max(count, width_of(row.says) + em(0.5f));
  }
  for (const auto& [name, says, ctas] : rows) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = em(0.85f);
    const float width = ImGui::GetContentRegionAvail().x - label - count;
    const float share = f32(static_cast<double>(ctas) / static_cast<double>(occupancy.resident_ctas)),
                alpha = ImGui::GetStyle().Alpha;
    dim_text(name);
    ImGui::SameLine(0, 0);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float top = at.y + (ImGui::GetFontSize() - height) / 2 + em(0.1f), left = at.x + label;
    list->AddRectFilled({left, top}, {left + width, top + height}, with_alpha(palette().raised, alpha), em(0.15f));
    list->AddRectFilled({left, top}, {left + width * share, top + height},
                        with_alpha(mixed(palette().accent, palette().panel, 0.25f), alpha), em(0.15f));
    ImGui::SetCursorScreenPos({left + width + em(0.4f), at.y});
    dim_text(says);
  }
  ImGui::PopFont();
}

}  // namespace attnscope::ui
