#include "ui/panels/timeline_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/timeline_view.h"
#include "core/with_commas.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/text.h"

// The pictures of the Timeline panel, and what the pointer does on them.
namespace attnscope::ui {
namespace {

constexpr size_t kMostCells = 6000;    // warps × columns that are drawn, to keep a frame short
constexpr float kCtasShare = 0.38f;    // of the room; the warps get the rest
constexpr float kStacked = 18;         // ems of height for stacked pictures
constexpr float kBeside = 44;          // ems of width for pictures side by side
constexpr float kLeastPicture = 3;     // ems: a lower picture cannot be read
constexpr float kLabels = 3.2f;        // ems to the left of the rows
constexpr float kLeastSegment = 0.5f;  // pixels

ImU32 state_colour(WarpState state) { return palette().buffers[static_cast<size_t>(state)]; }

// Waves are shades of one colour that no state uses. The first is the strongest, and neighbouring ones differ.
ImU32 colour_of_wave(int64_t wave) {
  const Palette& p = palette();
  return mixed(p.raised, p.text, wave % 2 == 0 ? 0.62f : 0.36f);
}

// The number of columns that can be drawn for that many warps.
size_t drawn_columns(size_t warps) { return std::max<size_t>(32, kMostCells / std::max<size_t>(1, warps)); }

void label_row(const std::string& words, ImVec2 at, float height) {
  ImGui::GetWindowDrawList()->AddText({at.x, at.y + (height - ImGui::GetFontSize()) / 2}, palette().dim, words.c_str());
}

}  // namespace

struct TimelinePanel::Box {
  ImVec2 corner;
  float width = 0, height = 0, row = 0;  // row: height of one SM or warp
  double from = 0, to = 1;

  float x(double clock) const { return corner.x + width * std::clamp(f32((clock - from) / (to - from)), 0.0f, 1.0f); }
  double clock(float at) const { return from + std::clamp(double((at - corner.x) / width), 0.0, 1.0) * (to - from); }
  // The row under the mouse; there are `count`.
  size_t row_at(float y, size_t count) const {
    const double at = double((y - corner.y) / row);
    return std::min(count - 1, static_cast<size_t>(std::max(0.0, at)));
  }
};

void TimelinePanel::draw_pictures(const SmTimeline& timeline) {
  const float heading = ImGui::GetTextLineHeightWithSpacing(), least = em(kLeastPicture);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.y < em(kStacked) && room.x > em(kBeside)) {  // a flat panel shows them side by side
    const float height = std::max(least, room.y - heading), gap = em(1);
    const float ctas = (room.x - gap) * kCtasShare;
    ImGui::BeginGroup();
    draw_both_ctas(timeline, {ctas, height});
    ImGui::EndGroup();
    ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    draw_warps(timeline, {room.x - gap - ctas, height});
    ImGui::EndGroup();
  } else {
    const float both = room.y - 2 * heading - 2 * ImGui::GetStyle().ItemSpacing.y;
    const float ctas = std::max(least, both * kCtasShare);
    draw_both_ctas(timeline, {room.x, ctas});
    draw_warps(timeline, {room.x, std::max(least, both - ctas)});
  }
}

// Each state with its colour and its share of the warps' clocks.
void TimelinePanel::draw_legend(const SmTimeline& timeline) const {
  if (timeline.measured())
    return text("A bar is a warp from its first clock to its last. What it waits for, only the model says.");
  const charts::StateShares shares = charts::state_shares(timeline);
  const SmTimeline* const a = ghost(false);
  const charts::StateShares of_a = a != nullptr ? charts::state_shares(*a) : charts::StateShares{};
  // A's shares are those of its whole time, so they stand only beside B's whole time.
  const bool against = a != nullptr && model_.ask.from == 0 && model_.ask.to == 0;
  const float side = ImGui::GetFontSize() * 0.7f;
  bool first = true;
  for (const auto& [state, word] : Words<WarpState>::table) {
    const auto at = static_cast<size_t>(state);
    std::string words = fmt::format("{} {:.0f} %", to_string(state), 100 * shares[at]);
    if (against) words += fmt::format(" (A {:.0f} %)", 100 * of_a[at]);
    if (!first) ImGui::SameLine(0, em(0.9f));
    if (!first && ImGui::GetContentRegionAvail().x < side + em(0.3f) + width_of(words)) ImGui::NewLine();
    first = false;
    const ImVec2 pen = ImGui::GetCursorScreenPos();
    const float down = (ImGui::GetTextLineHeight() - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({pen.x, pen.y + down}, {pen.x + side, pen.y + down + side},
                                              state_colour(state));
    ImGui::Dummy({side, ImGui::GetTextLineHeight()});
    ImGui::SameLine(0, em(0.3f));
    text(words);
    tooltip(std::string(sentence_of(state)) + "; the share of all warps' clocks below");
  }
}

// Measured CTAs, with the simulated ones below on the same clocks.
void TimelinePanel::draw_both_ctas(const SmTimeline& timeline, ImVec2 size) {
  // A's end is on the same clocks.
  const auto end_of = [&](const SmTimeline& one) {
    const SmTimeline* const a = ghost(one.measured());
    return std::max({1.0, charts::ctas_end(one), a != nullptr ? charts::ctas_end(*a) : 0});
  };
  if (!timeline.measured() || model_.listing == nullptr) return draw_ctas(timeline, size, end_of(timeline));
  const SmTimeline& modelled = *model_.listing->timeline;
  const double end = std::max(end_of(timeline), end_of(modelled));
  const float heading = ImGui::GetTextLineHeightWithSpacing(), gap = ImGui::GetStyle().ItemSpacing.y;
  const float height = std::max(em(1), (size.y - heading - gap) / 2);
  draw_ctas(timeline, {size.x, height}, end);
  draw_ctas(modelled, {size.x, height}, end);
}

void TimelinePanel::draw_ctas(const SmTimeline& timeline, ImVec2 size, double end) {
  const Palette& p = palette();
  const std::string kind = clocked_ ? fmt::format(", {}", to_string(charts::kind_of(timeline))) : "";
  clipped(fmt::format("CTAs by SM{}, {} clocks; each wave has its shade", kind,
                      with_commas(static_cast<int64_t>(charts::ctas_end(timeline)))),
          size.x, p.dim);
  ImGui::PushID(timeline.measured() ? "measured" : "modelled");
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const auto sms = static_cast<size_t>(std::max<int64_t>(1, timeline.sms));
  const float height = size.y;
  const Box box{
      {pen.x + em(kLabels), pen.y}, std::max(em(4), size.x - em(kLabels)), height, height / f32(double(sms)), 0, end};
  ImGui::InvisibleButton("##ctas", {em(kLabels) + box.width, height});
  const bool hovered = ImGui::IsItemHovered();
  if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right)) warps_leave_ = false;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(box.corner, {box.corner.x + box.width, pen.y + height}, p.raised);
  const float places = f32(double(std::max<int64_t>(1, timeline.places)));
  // If a row has room, each place has its own line in it; otherwise the last CTA drawn is visible.
  const bool split = box.row / places >= 2;
  for (const CtaSpan& one : timeline.ctas) {
    const float top =
        box.corner.y + box.row * f32(double(one.sm)) + (split ? box.row / places * f32(double(one.place)) : 0);
    const float bottom = top + (split ? box.row / places : box.row) - (box.row > 3 ? 1 : 0);
    const ImU32 colour = colour_of_wave(charts::wave_of(timeline, one));
    list->AddRectFilled({box.x(one.from), top}, {std::max(box.x(one.from) + 1, box.x(one.to) - 1), bottom},
                        one.sm == timeline.sm ? mixed(colour, p.accent, 0.6f) : colour);
  }
  if (const SmTimeline* const a = ghost(timeline.measured())) draw_ghost_end(*a, box, height);
  const float row = box.corner.y + box.row * f32(double(timeline.sm));
  list->AddRect({box.corner.x, row - 1}, {box.corner.x + box.width, row + std::max(2.0f, box.row) + 1}, p.text);
  label_row(fmt::format("SM {}", timeline.sm), {pen.x, std::clamp(row, pen.y, pen.y + height - ImGui::GetFontSize())},
            box.row);
  ImGui::PopID();
  if (!hovered || ImGui::GetIO().MousePos.x < box.corner.x) return;
  const auto sm = static_cast<int64_t>(box.row_at(ImGui::GetIO().MousePos.y, sms));
  const double clock = box.clock(ImGui::GetIO().MousePos.x);
  std::string words = fmt::format("SM {}, clock {}", sm, with_commas(static_cast<int64_t>(clock)));
  for (const CtaSpan& one : timeline.ctas)
    if (one.sm == sm && one.from <= clock && clock < one.to)
      words += fmt::format("\nCTA {} of wave {} at place {}: {}", one.cta, charts::wave_of(timeline, one) + 1,
                           one.place, charts::clocks_text(timeline, one.to - one.from));
  ImGui::SetTooltip("%s\nClick to see this SM's warps", words.c_str());
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) (timeline.measured() ? clocks_ : model_).ask.sm = sm;
}

// When A's last CTA ends.
void TimelinePanel::draw_ghost_end(const SmTimeline& a, const Box& box, float height) {
  const float right = box.corner.x + box.width, x = std::floor(std::min(box.x(charts::ctas_end(a)), right - 2));
  ghost_dashes({x, box.corner.y}, height, right - x);
}

// A warp's columns: its states stacked, each as high as its share of the column.
void TimelinePanel::draw_warp(const SmTimeline& drawn, size_t warp, const Box& box) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float gap = box.row > 4 ? 1 : 0, height = box.row - gap;
  const float bottom = box.corner.y + box.row * f32(double(warp + 1)) - gap;
  for (size_t at = 0; at < static_cast<size_t>(drawn.columns); ++at) {
    const double from = drawn.from + double(at) * drawn.column;
    const float left = box.x(from), right = box.x(from + drawn.column);
    float low = bottom;
    for (const auto& [state, word] : Words<WarpState>::table) {
      const float part = height * drawn.share(warp, at, state);
      if (part < kLeastSegment) continue;
      list->AddRectFilled({left, low - part}, {right, low}, state_colour(state));
      low -= part;
    }
  }
}

// Measured warps: a bar from each one's first clock to its last; CTAs that follow each other differ.
void TimelinePanel::draw_spans(const SmTimeline& timeline, const Box& box) const {
  const float gap = box.row > 4 ? 1 : 0;
  for (const WarpSpan& one : timeline.spans) {
    const float top = box.corner.y + box.row * f32(double(one.row));
    const float left = box.x(one.from);
    ImGui::GetWindowDrawList()->AddRectFilled({left, top}, {std::max(left + 1, box.x(one.to) - 1), top + box.row - gap},
                                              colour_of_wave(charts::wave_of(timeline, {one.cta, 0, 0, 0, 0})));
  }
}

void TimelinePanel::draw_warps(const SmTimeline& timeline, ImVec2 size) {
  const Palette& p = palette();
  if (timeline.warps.empty() || timeline.columns == 0)
    return wrapped(timeline.warps.empty() ? "This SM has no CTA." : "The SM is empty at these clocks.", p.dim);
  const double to = timeline.to();
  clipped(fmt::format("Warps of SM {}{}, clocks {} to {}{}", timeline.sm, timeline.measured() ? "" : " by state",
                      with_commas(static_cast<int64_t>(timeline.from)),
                      with_commas(static_cast<int64_t>(std::min(to, timeline.clocks))),
                      timeline.measured() ? "" : "; each column is cut by its states' shares"),
          size.x, p.dim);
  if (drawn_of_ != now().listing) {
    drawn_of_ = now().listing;
    drawn_ = charts::coarser(timeline, drawn_columns(timeline.warps.size()));
  }
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const size_t warps = timeline.warps.size();
  const Box box{{pen.x + em(kLabels), pen.y},
                std::max(em(4), size.x - em(kLabels)),
                size.y,
                size.y / f32(double(warps)),
                timeline.from,
                to};
  ImGui::InvisibleButton("##warps", {em(kLabels) + box.width, size.y});
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(box.corner, {box.corner.x + box.width, pen.y + size.y}, p.raised);
  if (timeline.measured()) draw_spans(timeline, box);
  float labelled = pen.y - 1;
  for (size_t warp = 0; warp < warps; ++warp) {
    if (!timeline.measured()) draw_warp(drawn_, warp, box);
    const float top = pen.y + box.row * f32(double(warp));
    if (top < labelled) continue;
    label_row(fmt::format("{}.{}", timeline.warps[warp].place, timeline.warps[warp].warp), {pen.x, top}, box.row);
    labelled = top + ImGui::GetFontSize();
  }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsItemHovered();
  drag_warps(box, hovered);
  if (hovered && mouse.x >= box.corner.x)
    ImGui::SetTooltip("%s", warp_words(timeline, box.row_at(mouse.y, warps), box.clock(mouse.x)).c_str());
}

// Dragging over the warps selects clocks; a double click shows all of them.
void TimelinePanel::drag_warps(const Box& box, bool hovered) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right)) warps_leave_ = true;
  if (ImGui::IsItemActivated()) dragged_from_ = box.clock(mouse.x);
  const double clock = box.clock(mouse.x);
  if (ImGui::IsItemActive() && dragged_from_ >= 0) {
    const float from = box.x(dragged_from_), to = box.x(clock);
    ImGui::GetWindowDrawList()->AddRectFilled({std::min(from, to), box.corner.y},
                                              {std::max(from, to), box.corner.y + box.height},
                                              with_alpha(palette().accent, 0.25f));
  }
  if (ImGui::IsItemDeactivated() && dragged_from_ >= 0) {
    const double low = std::min(dragged_from_, clock), high = std::max(dragged_from_, clock);
    if (box.x(high) - box.x(low) > em(0.3f)) show_clocks(low, high);
    dragged_from_ = -1;
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show_all();
}

// What a warp does at a clock.
std::string TimelinePanel::warp_words(const SmTimeline& timeline, size_t warp, double clock) const {
  const WarpPlace& place = timeline.warps[warp];
  std::string words = fmt::format("place {}, warp {}, ", place.place, place.warp);
  if (!timeline.measured()) words += fmt::format("scheduler {}, ", place.scheduler);
  words += "clock " + with_commas(static_cast<int64_t>(clock));
  if (timeline.measured()) {
    for (const WarpSpan& one : timeline.spans)
      if (static_cast<size_t>(one.row) == warp && one.from <= clock && clock < one.to)
        words += fmt::format("\nCTA {}: clocks {} to {}, {}", one.cta, with_commas(std::lround(one.from)),
                             with_commas(std::lround(one.to)), charts::clocks_text(timeline, one.to - one.from));
    return words;
  }
  if (const CtaSpan* cta = timeline.cta_at(place.place, clock)) words += fmt::format("\nCTA {}", cta->cta);
  const auto at = std::min(static_cast<size_t>((clock - timeline.from) / timeline.column),
                           static_cast<size_t>(timeline.columns) - 1);
  for (const auto& [state, word] : Words<WarpState>::table)
    if (const float share = timeline.share(warp, at, state); share >= 0.005f)
      words += fmt::format("\n{} {:.0f} %", to_string(state), 100 * double(share));
  return words;
}

}  // namespace attnscope::ui
