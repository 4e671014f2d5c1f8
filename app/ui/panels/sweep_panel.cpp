#include "ui/panels/sweep_panel.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "charts/format.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/layout.h"
#include "ui/panels/panels.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using sweep::JobState;
using sweep::Trial;

constexpr float kRoomForBoth = 58;  // ems: room for a plot beside the table of trials

// A word that is pressed to choose it; underlined if it is chosen.
bool choice(const std::string& words, bool chosen) {
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, chosen ? palette().text : palette().dim);
  const bool pressed = ImGui::SmallButton(words.c_str());
  ImGui::PopStyleColor(2);
  if (chosen) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddLine({low.x + em(0.2f), high.y}, {high.x - em(0.2f), high.y}, palette().accent,
                                        std::max(1.5f, em(0.1f)));
  }
  return pressed;
}

}  // namespace

void SweepPanel::draw(Context& context) {
  const Kernel* kernel = session::find_kernel(context.snapshot, context.draft.current().kernel);
  if (kernel == nullptr && context.sweep.job() == nullptr)
    return empty_state(ICON_SEARCH, "No kernel", "Choose one on the left.");
  // A panel that appears may be behind another one, as in the first frame, and counting keeps a core busy.
  const SweepPreview* preview = ImGui::IsWindowAppearing() ? nullptr : context.sweep.preview(context);
  draw_controls(context, preview);
  const sweep::Job* job = context.sweep.job();  // after the controls, because a start replaces it
  if (const uint64_t number = context.sweep.started(); number != std::exchange(seen_, number))
    view_ = SweepView::scatter;
  state_ = job != nullptr ? job->state() : nullptr;
  if (state_) brushed_.follow(seen_, state_->trials);
  const bool of_job = job != nullptr;
  const size_t excluded = of_job               ? job->excluded().size()
                          : preview != nullptr ? preview->candidates.excluded.size()
                                               : 0;
  choose_view(excluded);
  const ImGuiID own = ImGui::GetCurrentWindow()->ID;  // items of the part below use this window's ids
  if (ImGui::BeginChild("content", {0, 0}, ImGuiChildFlags_NavFlattened)) {
    ImGui::PushOverrideID(own);
    if (view_ == SweepView::setup)
      draw_setup(context, preview);
    else if (view_ == SweepView::excluded && of_job)
      draw_excluded(job->excluded(), job->plan().kernel, job->plan().held.config);
    else if (view_ == SweepView::excluded && preview != nullptr && kernel != nullptr)
      draw_excluded(preview->candidates.excluded, *kernel, preview->plan.held.config);
    else if (of_job && !state_->trials->rows.empty())
      draw_trials(context, *job);
    else
      empty_state(ICON_SEARCH, of_job ? "No trial has ended yet" : "No sweep yet",
                  of_job ? "Each config is here as soon as it has run."
                         : "Choose knobs and values in the set-up, and start it.");
    ImGui::PopID();
  }
  ImGui::EndChild();
}

void SweepPanel::draw_controls(Context& context, const SweepPreview* preview) {
  SweepDesk& desk = context.sweep;
  const sweep::Job* job = desk.job();
  if (desk.runs()) {
    const bool paused = job->paused();
    if (ImGui::Button(paused ? "Resume###pause" : "Pause###pause")) paused ? desk.resume() : desk.pause();
    tooltip(paused ? "Goes on with the configs that have not run"
                   : "The config that runs now is stopped and runs again later");
    ImGui::SameLine(0, em(0.4f));
    if (ImGui::Button("Stop")) desk.stop();
    tooltip("Ends the sweep. What has run is kept; the same sweep again goes on from there");
  } else {
    const bool can = preview != nullptr && !preview->refusal;
    ImGui::BeginDisabled(!can);
    if (ImGui::Button("Start")) desk.start();
    ImGui::EndDisabled();
    tooltip(preview == nullptr ? "The configs are being counted."
            : can ? "Runs the configs after everything else; configs with a stored result are not run again"
                  : preview->refusal->message);
  }
  ImGui::SameLine(0, em(0.8f));
  job = desk.job();
  if (job != nullptr) return draw_progress(*job, *job->state());
  if (preview == nullptr) return dim_text("counting the configs");
  const Kernel& kernel = preview->plan.kernel;
  if (preview->refusal) return clipped(preview->refusal->message, ImGui::GetContentRegionAvail().x, palette().warn);
  clipped(fmt::format("{} {} on {}: {} configs to run", kernel.id, short_text(preview->plan.held.problem),
                      preview->plan.held.device, with_commas(int64_t(preview->most()))),
          ImGui::GetContentRegionAvail().x, palette().dim);
}

void SweepPanel::draw_progress(const sweep::Job& job, const JobState& state) {
  const sweep::Plan& plan = job.plan();
  std::string words = sweep::progress_text(state, job.paused());
  if (state.left_seconds && !job.paused()) words += ", " + charts::left_text(*state.left_seconds);
  const auto& rows = state.trials->rows;
  if (!rows.empty() && rows.front().rank > 0)
    words += fmt::format(", best {} {}: {}", charts::us_text(*rows.front().us), to_string(rows.front().kind),
                         rows.front().text);
  else if (state.over() && !rows.empty())
    words += ", no config is correct";
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::AlignTextToFramePadding();
  if (state.failure)
    clipped(state.failure->message + " " + state.failure->hint, room, palette().bad);
  else
    clipped(words, room, palette().text);
  std::string about = fmt::format("{} {} on {}, {}", plan.kernel.id, short_text(plan.held.problem), plan.held.device,
                                  to_string(plan.strategy));
  for (const std::string& note : state.notes) about += "\n" + note;
  tooltip(about);
  const float share = state.most > 0 ? f32(static_cast<double>(state.ended) / static_cast<double>(state.most)) : 0;
  const float y = pen.y + ImGui::GetFrameHeight() - em(0.12f);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({pen.x, y}, {pen.x + room, y + em(0.12f)}, palette().line);
  list->AddRectFilled({pen.x, y}, {pen.x + room * share, y + em(0.12f)}, palette().accent);
}

void SweepPanel::choose_view(size_t excluded) {
  const bool wide = ImGui::GetContentRegionAvail().x > em(kRoomForBoth);  // the same test as in draw_trials
  ImGui::PushFont(nullptr, kSmallSize);
  if (wide && view_ == SweepView::trials) view_ = SweepView::scatter;  // the table is beside it
  const auto view = [&](SweepView one, const std::string& words, const char* about) {
    if (choice(words, view_ == one)) view_ = one;
    tooltip(about);
    ImGui::SameLine(0, em(0.2f));
  };
  view(SweepView::setup, "set-up", "Which values the next sweep tries, and how");
  view(SweepView::scatter, "scatter", "One figure against another or against a knob; drag to keep a part");
  view(SweepView::parallel, "parallel", "Every knob and figure is an axis, every trial a line; drag along an axis");
  if (!wide) view(SweepView::trials, "trials", "Every trial by its time, those that cannot be told apart as ties");
  view(SweepView::excluded, fmt::format("excluded ({})###excluded", with_commas(int64_t(excluded))),
       "Configs that are not tried, each with its reason");
  if (!brushed_.brushes().empty()) {
    if (ImGui::SmallButton(fmt::format("{} of {} kept: clear###clear", with_commas(std::ssize(brushed_.rows())),
                                       with_commas(std::ssize(brushed_.all().rows)))
                               .c_str()))
      brushed_.clear();
    tooltip("Shows all trials again");
    ImGui::SameLine(0, em(0.2f));
  }
  const bool tall = is_tall(title());
  const float width = width_of("taller") + em(1.2f), room = ImGui::GetContentRegionAvail().x;
  if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  if (ImGui::SmallButton(tall ? "lower###tall" : "taller###tall")) set_tall(title(), !tall);
  ImGui::PopFont();
}

void SweepPanel::open(Context& context, const sweep::Job& job, size_t row) {
  const Trial& trial = brushed_.all().rows.at(row);
  Draft wish = job.plan().held;
  wish.config = state_->scan->points.at(trial.point).config;
  context.session.select_history(0);
  context.post(std::move(wish), {context.new_gesture(), true, "from the sweep: " + trial.text});
}

void SweepPanel::draw_trials(Context& context, const sweep::Job& job) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool wide = room.x > em(kRoomForBoth);
  if (view_ == SweepView::trials) return draw_table(context, job);
  const float plot = wide ? room.x * 0.56f : room.x;
  const ImGuiID own = ImGui::GetCurrentWindow()->IDStack.back();
  std::optional<size_t> clicked;
  if (ImGui::BeginChild("plot", {plot, 0}, ImGuiChildFlags_NavFlattened)) {
    ImGui::PushOverrideID(own);
    const bool scatter = view_ == SweepView::scatter;
    clicked = scatter ? scatter_.draw(brushed_) : parallel_.draw(brushed_);
    export_menu(context,
                {"sweep", [&] { return scatter ? scatter_.figure(brushed_) : ParallelPlot::figure(brushed_); }});
    ImGui::PopID();
  }
  ImGui::EndChild();
  if (wide) {
    ImGui::SameLine(0, em(0.6f));
    if (ImGui::BeginChild("table", {0, 0}, ImGuiChildFlags_NavFlattened)) {
      ImGui::PushOverrideID(own);
      draw_table(context, job);
      ImGui::PopID();
    }
    ImGui::EndChild();
  }
  if (clicked) open(context, job, *clicked);
}

void SweepPanel::draw_table(Context& context, const sweep::Job& job) {
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH;
  const ImGuiID own = ImGui::GetCurrentWindow()->IDStack.back();
  std::optional<size_t> clicked;
  ImGui::PushFont(nullptr, kSmallSize);
  if (ImGui::BeginTable("trials", 4, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("rank", 0, 2.6f);
    ImGui::TableSetupColumn("time", 0, 5);
    ImGui::TableSetupColumn("verdict", 0, 6);
    ImGui::TableSetupColumn("config", 0, 22);
    ImGui::TableHeadersRow();
    ImGui::PushOverrideID(own);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(brushed_.rows().size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at) {
        const size_t row = brushed_.rows()[static_cast<size_t>(at)];
        const Trial& trial = brushed_.all().rows[row];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        const std::string rank = trial.rank == 0 ? "\u2013" : fmt::format("{}{}", trial.rank, trial.tie ? "=" : "");
        if (ImGui::Selectable(fmt::format("{}###trial{}", rank, at).c_str(), false,
                              ImGuiSelectableFlags_SpanAllColumns))
          clicked = row;
        tooltip(words_of(brushed_.all(), row));
        ImGui::TableNextColumn();
        clipped(trial.us ? charts::us_text(*trial.us) : "\u2013", ImGui::GetContentRegionAvail().x,
                trial.rank > 0 ? palette().text : palette().faint);
        ImGui::TableNextColumn();
        const bool unwatched = trial.rank > 0 && !trial.watched;
        clipped(std::string(attnscope::label(trial.verdict)) + (unwatched ? ", not watched" : ""),
                ImGui::GetContentRegionAvail().x, trial.rank == 0 ? palette().bad : palette().dim);
        ImGui::TableNextColumn();
        clipped(trial.text + (trial.reason.empty() ? "" : "  " + trial.reason), ImGui::GetContentRegionAvail().x,
                palette().text);
      }
    ImGui::PopID();
    ImGui::EndTable();
  }
  ImGui::PopFont();
  if (clicked) open(context, job, *clicked);
}

void SweepPanel::draw_excluded(const std::vector<search::Excluded>& excluded, const Kernel& kernel,
                               const Config& held) {
  if (excluded.empty()) return dim_text("No config is excluded.");
  ImGui::PushFont(nullptr, kSmallSize);
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH;
  if (ImGui::BeginTable("excluded", 3, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("why", 0, 5);
    ImGui::TableSetupColumn("config", 0, 25);
    ImGui::TableSetupColumn("reason", 0, 35);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(excluded.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at) {
        const search::Excluded& one = excluded[static_cast<size_t>(at)];
        ImGui::TableNextRow();
        const auto cell = [](std::string_view words, ImU32 colour) {
          ImGui::TableNextColumn();
          clipped(words, ImGui::GetContentRegionAvail().x, colour);
        };
        cell(to_string(one.why), palette().warn);
        cell(short_text(one.config, kernel, held.options), palette().text);
        cell(one.common + (one.hint.empty() ? "" : " " + one.hint), palette().dim);
      }
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

std::unique_ptr<Panel> make_sweep_panel(const std::filesystem::path&) { return std::make_unique<SweepPanel>(); }

}  // namespace attnscope::ui
