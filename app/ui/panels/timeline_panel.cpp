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
#include "ui/widgets/ghost.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

bool is_on_gpu(const Context& context) {
  const DeviceSpec* device = session::find_device(context.snapshot, context.shown.observation->experiment.device);
  return device != nullptr && !device->emulated;
}

}  // namespace

void TimelinePanel::draw(Context& context) {
  if (context.shown.observation == nullptr)
    return empty_state(ICON_CHART, "No run yet",
                       "The CTAs and warps of a run appear here, as the model simulates them.");
  take(context);
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), em(0.05f)});
  // Before the timeline is taken, because a click shows the other kind from this frame on.
  const bool chooses = is_on_gpu(context);
  if (chooses) choose_kind();
  if (clocked_) look_for(context, clocks_, seen_->experiment, of_);
  take_ghosts(context);
  if (now().listing == nullptr) {
    ImGui::PopStyleVar();
    ImGui::PopFont();
    const char* being =
        clocked_ ? "A copy of the run that reads clocks is launched on the GPU" : "The run is being simulated";
    return empty_state(ICON_CHART, now().waits ? being : "No timeline of this run", now().missing);
  }
  const SmTimeline& timeline = *now().listing->timeline;
  if (!chooses) kind_badge(context.glossary, FigureKind::modelled);
  draw_controls(context, timeline);
  draw_legend(timeline);
  draw_pictures(timeline);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  const std::string device = context.shown.observation->device;
  export_menu(context, {warps_leave_ ? "timeline-warps" : "timeline-ctas", [&] {
                          return warps_leave_ ? charts::warps_figure(timeline, device)
                                              : charts::ctas_figure(timeline, device);
                        }});
}

// Takes the run's simulation, and requests it if it is missing.
void TimelinePanel::take(Context& context) {
  const auto& seen = context.shown.observation;
  if (seen != seen_) {
    seen_ = seen;
    if (std::string hash = hash_of(seen->experiment); hash != of_) {
      of_ = std::move(hash);  // another run's warps must not stay under its name
      model_ = clocks_ = {};
      clocks_.ask.measured = true;
      clocked_ = false;
    }
  }
  look_for(context, model_, seen_->experiment, of_);
}

// A's simulation and, where B's clocks are shown, A's clocks, each of the SM that is shown.
void TimelinePanel::take_ghosts(Context& context) {
  const Observation* a = context.baseline.ghost;
  if (a != seen_a_) {
    seen_a_ = a;
    model_a_ = clocks_a_ = {};
    clocks_a_.ask.measured = true;
    of_a_ = a != nullptr ? hash_of(a->experiment) : "";
  }
  take_ghost(context, model_a_, model_);
  if (clocked_) take_ghost(context, clocks_a_, clocks_);
}

// It is requested once B's is there.
void TimelinePanel::take_ghost(Context& context, Kind& a, const Kind& b) {
  const Observation* run = context.baseline.ghost;
  if (run == nullptr || b.listing == nullptr || of_a_ == of_) {
    a.listing.reset();
    a.missing.clear();
    return;
  }
  if (b.ask.step && run->experiment.kernel_hash != seen_->experiment.kernel_hash) {
    a.listing.reset();
    a.waits = false;
    a.missing = "its launches are another kernel's";
    return;
  }
  a.ask.sm = b.ask.sm;
  a.ask.step = b.ask.step;
  look_for(context, a, run->experiment, of_a_);
  if (a.listing == nullptr) return;
  a.missing = charts::unlike_timelines(*a.listing->timeline, *b.listing->timeline);
  if (!a.missing.empty()) a.listing.reset();
}

// "; A 2,456 clocks, 1.32 us", or why A has none.
std::string TimelinePanel::words_of_a() const {
  if (const SmTimeline* a = ghost(clocked_)) return "; A " + charts::clocks_text(*a, a->clocks);
  const Kind& kind = clocked_ ? clocks_a_ : model_a_;
  if (kind.missing.empty()) return {};
  if (kind.waits) return clocked_ ? ".  A's clocks are on their way" : ".  A is being simulated";
  return ".  A has no timeline: " + kind.missing.substr(0, kind.missing.find('\n'));
}

void TimelinePanel::look_for(Context& context, Kind& kind, const Experiment& experiment, const std::string& hash) {
  const std::string key = session::listing_key(hash, kind.ask);
  const auto found = context.snapshot.listings.find(key);
  const auto refused = context.snapshot.refused_listings.find(key);
  const bool refuses = refused != context.snapshot.refused_listings.end();
  kind.waits = found == context.snapshot.listings.end() && !refuses;
  if (kind.waits) {
    // SMs that are passed while dragging are not requested.
    if (!context.shown.running() && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
      context.session.request_timeline(experiment, kind.ask);
    kind.missing = kind.ask.measured ? "Its clocks are read in a launch that is not timed."
                                     : "The model simulates it once more, without leaving out what repeats.";
    return;  // the previous answer stays until this one arrives
  }
  if (refuses) {
    kind.listing.reset();
    kind.missing = refused->second.message + (refused->second.hint.empty() ? "" : "\n" + refused->second.hint);
    return;
  }
  kind.listing = found->second->timeline ? found->second : nullptr;
  kind.missing = "The answer has no timeline.";
}

// Of a run on a GPU: the simulation, or the GPU's own clocks.
void TimelinePanel::choose_kind() {
  for (const bool clocked : {false, true}) {
    if (clocked) ImGui::SameLine(0, em(0.4f));
    if (ImGui::RadioButton(clocked ? "measured" : "modelled", clocked_ == clocked)) clocked_ = clocked;
    tooltip(clocked
                ? "When each warp began and ended on the GPU: clock64 of an instrumented copy of the kernel, launched "
                  "for this and not timed; globaltimer aligns the SMs"
                : "As the latency model simulates the run; what a warp waits for is known only here");
  }
}

void TimelinePanel::show_clocks(double from, double to) {
  TimelineAsk& ask = now().ask;
  ask.from = static_cast<int64_t>(std::max(0.0, std::floor(from)));
  ask.to = std::max(ask.from + TimelineAsk::kLeast, static_cast<int64_t>(std::ceil(to)));
}

void TimelinePanel::zoom(const SmTimeline& timeline, double factor) {
  const double from = timeline.from, to = timeline.to();
  const double middle = (from + to) / 2, half = (to - from) / 2 * factor;
  if (middle - half <= 0 && middle + half >= timeline.clocks)
    show_all();
  else
    show_clocks(middle - half, std::min(middle + half, timeline.clocks));
}

// Chooses the launch of a program; memsets and copies have no warps.
void TimelinePanel::choose_launch(const Context& context, const SmTimeline& timeline) {
  const std::vector<LaunchFigures>& launches = context.shown.observation->launches;
  if (launches.size() < 2 || clocked_) return;
  ImGui::SetNextItemWidth(em(10));
  if (ImGui::BeginCombo("##launch", timeline.launch ? timeline.launch->c_str() : "", ImGuiComboFlags_HeightLarge)) {
    for (size_t at = 0; at < launches.size(); ++at) {
      if (!launches[at].variant) continue;
      ImGui::PushID(static_cast<int>(at));
      if (ImGui::Selectable(fmt::format("{} {}", at + 1, launches[at].name).c_str())) {
        now().ask = {};
        now().ask.step = static_cast<int64_t>(at);
      }
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  tooltip("The launch of this program whose SMs are shown; at first the longest");
  ImGui::SameLine(0, em(0.4f));
}

void TimelinePanel::draw_controls(Context& context, const SmTimeline& timeline) {
  // As high as the badge or the buttons before, so that all words of the line are at the same height.
  const float inside = (ImGui::GetItemRectSize().y - ImGui::GetFontSize()) / 2;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), std::max(0.0f, inside)});
  ImGui::SameLine(0, em(0.6f));
  ImGui::AlignTextToFramePadding();
  choose_launch(context, timeline);
  TimelineAsk& ask = now().ask;
  int sm = static_cast<int>(ask.sm < 0 ? timeline.sm : ask.sm);
  ImGui::SetNextItemWidth(em(5));
  if (ImGui::DragInt("##sm", &sm, 0.2f, 0, static_cast<int>(timeline.sms) - 1, "SM %d", ImGuiSliderFlags_AlwaysClamp))
    ask.sm = sm;
  tooltip("Drag sideways, or double-click and type; or click an SM below");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton("+##zoom")) zoom(timeline, 0.5);
  tooltip("Half the clocks, around the middle; or drag over the warps");
  ImGui::SameLine(0, em(0.3f));
  const bool whole = ask.from == 0 && ask.to == 0;
  ImGui::BeginDisabled(whole);
  if (ImGui::SmallButton("-##zoom")) zoom(timeline, 2);
  tooltip("Twice the clocks");
  ImGui::SameLine(0, em(0.3f));
  if (ImGui::SmallButton("All clocks")) show_all();
  ImGui::EndDisabled();
  tooltip("Until the SM is empty");
  ImGui::SameLine(0, em(0.6f));
  const std::string caution = charts::timeline_caution(timeline);
  std::string heading = charts::timeline_heading(timeline, context.shown.observation->device);
  heading += words_of_a();
  if (const std::string why = why_no_ghost(context); !why.empty()) heading += ".  " + why;
  const bool waits = now().waits;
  const std::string being = clocked_ ? "Its clocks are on their way" : "Being simulated";
  clipped((waits ? being + "; the last timeline is shown.  " : "") + heading + (caution.empty() ? "" : ".  " + caution),
          ImGui::GetContentRegionAvail().x, waits || !caution.empty() ? palette().warn : palette().dim);
  ImGui::PopStyleVar();
}

std::unique_ptr<Panel> make_timeline_panel(const std::filesystem::path&) { return std::make_unique<TimelinePanel>(); }

}  // namespace attnscope::ui
