#include "ui/panels/timeline_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "charts/timeline_view.h"
#include "core/with_commas.h"
#include "session/listings.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr size_t kMostCells = 6000;    // warps × columns that are drawn, to keep a frame short
constexpr float kCtasShare = 0.38f;    // of the room; the warps get the rest
constexpr float kStacked = 18;         // ems of height for stacked pictures
constexpr float kBeside = 44;          // ems of width for pictures side by side
constexpr float kLeastPicture = 3;     // ems: a lower picture cannot be read
constexpr float kLabels = 3.2f;        // ems to the left of the rows
constexpr float kLeastSegment = 0.5f;  // pixels

ImU32 colour_of(WarpState state) { return palette().buffers[static_cast<size_t>(state)]; }

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

void TimelinePanel::draw(Context& context) {
  if (context.shown.observation == nullptr)
    return empty_state(ICON_CHART, "No run yet",
                       "The CTAs and warps of a run appear here, as the model simulates them.");
  take(context);
  if (listing_ == nullptr)
    return empty_state(ICON_CHART, waits_ ? "The run is being simulated" : "No timeline of this run", missing_);
  const SmTimeline& timeline = *listing_->timeline;
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), em(0.05f)});
  draw_controls(context, timeline);
  draw_legend(timeline);
  const float heading = ImGui::GetTextLineHeightWithSpacing(), least = em(kLeastPicture);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.y < em(kStacked) && room.x > em(kBeside)) {  // a flat panel shows them side by side
    const float height = std::max(least, room.y - heading), gap = em(1);
    const float ctas = (room.x - gap) * kCtasShare;
    ImGui::BeginGroup();
    draw_ctas(timeline, {ctas, height});
    ImGui::EndGroup();
    ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    draw_warps(timeline, {room.x - gap - ctas, height});
    ImGui::EndGroup();
  } else {
    const float both = room.y - 2 * heading - 2 * ImGui::GetStyle().ItemSpacing.y;
    const float ctas = std::max(least, both * kCtasShare);
    draw_ctas(timeline, {room.x, ctas});
    draw_warps(timeline, {room.x, std::max(least, both - ctas)});
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  const std::string device = context.shown.observation->device;
  export_menu(context, {warps_leave_ ? "timeline-warps" : "timeline-ctas", [&] {
                          return warps_leave_ ? charts::warps_figure(timeline, device)
                                              : charts::ctas_figure(timeline, device);
                        }});
}

// Takes the run's timeline, and requests it if it is missing.
void TimelinePanel::take(Context& context) {
  const auto& seen = context.shown.observation;
  if (seen != seen_) {
    seen_ = seen;
    if (std::string hash = hash_of(seen->experiment); hash != of_) {
      of_ = std::move(hash);  // another run's warps must not stay under its name
      ask_ = {};
      listing_.reset();
    }
  }
  const std::string key = session::listing_key(of_, ask_);
  const auto found = context.snapshot.listings.find(key);
  const auto refused = context.snapshot.refused_listings.find(key);
  const bool refuses = refused != context.snapshot.refused_listings.end();
  waits_ = found == context.snapshot.listings.end() && !refuses;
  if (waits_) {
    // SMs that are passed while dragging are not requested.
    if (!context.shown.running() && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
      context.session.request_timeline(seen->experiment, ask_);
    missing_ = "The model simulates it once more, without leaving out what repeats.";
    return;  // the previous answer stays until this one arrives
  }
  if (refuses) {
    listing_.reset();
    missing_ = refused->second.message + (refused->second.hint.empty() ? "" : "\n" + refused->second.hint);
    return;
  }
  listing_ = found->second->timeline ? found->second : nullptr;
  missing_ = "The answer has no timeline.";
}

void TimelinePanel::show_clocks(double from, double to) {
  ask_.from = static_cast<int64_t>(std::max(0.0, std::floor(from)));
  ask_.to = std::max(ask_.from + TimelineAsk::kLeast, static_cast<int64_t>(std::ceil(to)));
}

void TimelinePanel::zoom(const SmTimeline& timeline, double factor) {
  const double from = timeline.from, to = from + timeline.column * double(timeline.columns);
  const double middle = (from + to) / 2, half = (to - from) / 2 * factor;
  if (middle - half <= 0 && middle + half >= timeline.clocks)
    ask_.from = ask_.to = 0;
  else
    show_clocks(middle - half, std::min(middle + half, timeline.clocks));
}

// Chooses the launch of a program; memsets and copies have no warps.
void TimelinePanel::choose_launch(const Context& context, const SmTimeline& timeline) {
  const std::vector<LaunchFigures>& launches = context.shown.observation->launches;
  if (launches.size() < 2) return;
  ImGui::SetNextItemWidth(em(10));
  if (ImGui::BeginCombo("##launch", timeline.launch ? timeline.launch->c_str() : "", ImGuiComboFlags_HeightLarge)) {
    for (size_t at = 0; at < launches.size(); ++at) {
      if (!launches[at].variant) continue;
      ImGui::PushID(static_cast<int>(at));
      if (ImGui::Selectable(fmt::format("{} {}", at + 1, launches[at].name).c_str())) {
        ask_ = {};
        ask_.step = static_cast<int64_t>(at);
      }
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  tooltip("The launch of this program whose SMs are shown; at first the longest");
  ImGui::SameLine(0, em(0.4f));
}

void TimelinePanel::draw_controls(Context& context, const SmTimeline& timeline) {
  kind_badge(context.glossary, FigureKind::modelled);
  // As high as the badge, so that all words of the line are at the same height.
  const float inside = (ImGui::GetItemRectSize().y - ImGui::GetFontSize()) / 2;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), std::max(0.0f, inside)});
  ImGui::SameLine(0, em(0.6f));
  ImGui::AlignTextToFramePadding();
  choose_launch(context, timeline);
  int sm = static_cast<int>(ask_.sm < 0 ? timeline.sm : ask_.sm);
  ImGui::SetNextItemWidth(em(5));
  if (ImGui::DragInt("##sm", &sm, 0.2f, 0, static_cast<int>(timeline.sms) - 1, "SM %d", ImGuiSliderFlags_AlwaysClamp))
    ask_.sm = sm;
  tooltip("Drag sideways, or double-click and type; or click an SM below");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton("+##zoom")) zoom(timeline, 0.5);
  tooltip("Half the clocks, around the middle; or drag over the warps");
  ImGui::SameLine(0, em(0.3f));
  const bool whole = ask_.from == 0 && ask_.to == 0;
  ImGui::BeginDisabled(whole);
  if (ImGui::SmallButton("-##zoom")) zoom(timeline, 2);
  tooltip("Twice the clocks");
  ImGui::SameLine(0, em(0.3f));
  if (ImGui::SmallButton("All clocks")) ask_.from = ask_.to = 0;
  ImGui::EndDisabled();
  tooltip("Until the SM is empty");
  ImGui::SameLine(0, em(0.6f));
  const std::string caution = charts::timeline_caution(timeline);
  const std::string heading = charts::timeline_heading(timeline, context.shown.observation->device);
  clipped((waits_ ? "Being simulated; here is what was asked for before.  " : "") + heading +
              (caution.empty() ? "" : ".  " + caution),
          ImGui::GetContentRegionAvail().x, waits_ || !caution.empty() ? palette().warn : palette().dim);
  ImGui::PopStyleVar();
}

// Each state with its colour and its share of the warps' clocks.
void TimelinePanel::draw_legend(const SmTimeline& timeline) const {
  const charts::StateShares shares = charts::state_shares(timeline);
  const float side = ImGui::GetFontSize() * 0.7f;
  bool first = true;
  for (const auto& [state, word] : Words<WarpState>::table) {
    const std::string words = fmt::format("{} {:.0f} %", to_string(state), 100 * shares[static_cast<size_t>(state)]);
    if (!first) ImGui::SameLine(0, em(0.9f));
    if (!first && ImGui::GetContentRegionAvail().x < side + em(0.3f) + width_of(words)) ImGui::NewLine();
    first = false;
    const ImVec2 pen = ImGui::GetCursorScreenPos();
    const float down = (ImGui::GetTextLineHeight() - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({pen.x, pen.y + down}, {pen.x + side, pen.y + down + side},
                                              colour_of(state));
    ImGui::Dummy({side, ImGui::GetTextLineHeight()});
    ImGui::SameLine(0, em(0.3f));
    text(words);
    tooltip(std::string(sentence_of(state)) + "; the share of all warps' clocks below");
  }
}

void TimelinePanel::draw_ctas(const SmTimeline& timeline, ImVec2 size) {
  const Palette& p = palette();
  double end = 1;
  for (const CtaSpan& one : timeline.ctas) end = std::max(end, one.to);
  clipped(fmt::format("CTAs by SM, {} clocks; each wave has its shade", with_commas(static_cast<int64_t>(end))), size.x,
          p.dim);
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
  const float row = box.corner.y + box.row * f32(double(timeline.sm));
  list->AddRect({box.corner.x, row - 1}, {box.corner.x + box.width, row + std::max(2.0f, box.row) + 1}, p.text);
  label_row(fmt::format("SM {}", timeline.sm), {pen.x, std::clamp(row, pen.y, pen.y + height - ImGui::GetFontSize())},
            box.row);
  if (!hovered || ImGui::GetIO().MousePos.x < box.corner.x) return;
  const auto sm = static_cast<int64_t>(box.row_at(ImGui::GetIO().MousePos.y, sms));
  const double clock = box.clock(ImGui::GetIO().MousePos.x);
  std::string words = fmt::format("SM {}, clock {}", sm, with_commas(static_cast<int64_t>(clock)));
  for (const CtaSpan& one : timeline.ctas)
    if (one.sm == sm && one.from <= clock && clock < one.to)
      words += fmt::format("\nCTA {} of wave {} at place {}: {}", one.cta, charts::wave_of(timeline, one) + 1,
                           one.place, charts::clocks_text(timeline, one.to - one.from));
  ImGui::SetTooltip("%s\nClick to see this SM's warps", words.c_str());
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) ask_.sm = sm;
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
      list->AddRectFilled({left, low - part}, {right, low}, colour_of(state));
      low -= part;
    }
  }
}

void TimelinePanel::draw_warps(const SmTimeline& timeline, ImVec2 size) {
  const Palette& p = palette();
  if (timeline.warps.empty() || timeline.columns == 0)
    return wrapped(timeline.warps.empty() ? "This SM has no CTA." : "The SM is empty at these clocks.", p.dim);
  const double to = timeline.from + timeline.column * double(timeline.columns);
  clipped(fmt::format("Warps of SM {} by state, clocks {} to {}; each column is cut by its states' shares", timeline.sm,
                      with_commas(static_cast<int64_t>(timeline.from)),
                      with_commas(static_cast<int64_t>(std::min(to, timeline.clocks)))),
          size.x, p.dim);
  if (drawn_of_ != listing_) {
    drawn_of_ = listing_;
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
  float labelled = pen.y - 1;
  for (size_t warp = 0; warp < warps; ++warp) {
    draw_warp(drawn_, warp, box);
    const float top = pen.y + box.row * f32(double(warp));
    if (top < labelled) continue;
    label_row(fmt::format("{}.{}", timeline.warps[warp].place, timeline.warps[warp].warp), {pen.x, top}, box.row);
    labelled = top + ImGui::GetFontSize();
  }
  hover_warps(timeline, box);
}

// Dragging over the warps selects clocks; a double click shows all of them.
void TimelinePanel::hover_warps(const SmTimeline& timeline, const Box& box) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsItemHovered();
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
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ask_.from = ask_.to = 0;
  if (!hovered || mouse.x < box.corner.x) return;
  const size_t warp = box.row_at(mouse.y, timeline.warps.size());
  const auto at = std::min(static_cast<size_t>((clock - timeline.from) / timeline.column),
                           static_cast<size_t>(timeline.columns) - 1);
  const WarpPlace& place = timeline.warps[warp];
  std::string words = fmt::format("place {}, warp {}, scheduler {}, clock {}", place.place, place.warp, place.scheduler,
                                  with_commas(static_cast<int64_t>(clock)));
  if (const CtaSpan* cta = timeline.cta_at(place.place, clock)) words += fmt::format("\nCTA {}", cta->cta);
  for (const auto& [state, word] : Words<WarpState>::table)
    if (const float share = timeline.share(warp, at, state); share >= 0.005f)
      words += fmt::format("\n{} {:.0f} %", to_string(state), 100 * double(share));
  ImGui::SetTooltip("%s", words.c_str());
}

std::unique_ptr<Panel> make_timeline_panel(const std::filesystem::path&) { return std::make_unique<TimelinePanel>(); }

}  // namespace attnscope::ui
