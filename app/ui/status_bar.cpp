#include "ui/status_bar.h"

#include <fmt/format.h>

#include "charts/tables.h"
#include "ui/command_pane.h"
#include "ui/icons.h"
#include "ui/sweep_desk.h"
#include "ui/widgets/edge_bar.h"
#include "ui/widgets/text.h"
#include "ui/worker_words.h"

namespace attnscope::ui {
namespace {

using session::WorkerState;

void divider() {
  ImGui::SameLine(0, em(0.7f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine({at.x, at.y + em(0.1f)}, {at.x, at.y + ImGui::GetFontSize()}, palette().line);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(0.7f));  // a second SameLine() would not move
}

void device_cell(const Context& context) {
  const std::string& id = context.draft.current().device;
  const DeviceSpec* spec = session::find_device(context.snapshot, id);
  dim_text(ICON_CHIP "  " + id + (spec != nullptr ? "  " + spec->name : ""));
  tooltip(context.snapshot.device_reason);
}

void worker_cells(const Context& context) {
  for (const session::WorkerStatus& worker : context.snapshot.workers) {
    divider();
    // "Busy" with a detail says more than "ready". A detail that arrives after the work is done is not shown.
    const bool asked = context.snapshot.focus.running || context.snapshot.queue_waiting > 0;
    const bool able = worker.state == WorkerState::busy || worker.state == WorkerState::ready;
    const bool works = able && asked && !worker.detail.empty();
    const WorkerState state = works ? WorkerState::busy : able ? WorkerState::ready : worker.state;
    draw_state_mark(state);
    std::string words = worker.name;
    if (!works) words += " " + std::string(to_string(state));
    if ((works || !able) && !worker.detail.empty()) words += ": " + worker.detail;
    clipped(words, em(26), palette().dim);
    if (ImGui::IsItemClicked()) context.show_workers();
    if (worker.state == WorkerState::lost) {
      ImGui::SameLine(0, em(0.4f));
      ImGui::PushID(worker.name.c_str());
      if (ImGui::SmallButton("try again")) context.session.reconnect(worker.name);
      ImGui::PopID();
      continue;
    }
    tooltip(fmt::format("worker {}{}{}{}{}. Click for all of it.", worker.name,
                        worker.round_trip_ms ? ", " + round_trip_words(*worker.round_trip_ms) + " there and back" : "",
                        worker.versions.nvrtc.empty() ? "" : ", NVRTC " + worker.versions.nvrtc,
                        worker.versions.driver.empty() ? "" : ", driver " + worker.versions.driver,
                        worker.versions.gpu.empty() ? "" : ", " + worker.versions.gpu));
  }
}

void kind_cells(const Context& context) {
  const Timing* timing = context.shown.timing();
  const Counters* counters = context.shown.counters();
  if (timing == nullptr && counters == nullptr) return;
  divider();
  if (timing != nullptr) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_kind_mark(ImGui::GetWindowDrawList(), {at.x + em(0.35f), at.y + ImGui::GetFontSize() * 0.55f}, em(0.3f),
                   timing->kind);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(0.95f));
    dim_text(fmt::format("latency {}", to_string(timing->kind)));
    explain(context.glossary, word_of(timing->kind));
  }
  if (counters != nullptr) {
    if (timing != nullptr) ImGui::SameLine(0, em(0.8f));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_kind_mark(ImGui::GetWindowDrawList(), {at.x + em(0.35f), at.y + ImGui::GetFontSize() * 0.55f}, em(0.3f),
                   counters->kind);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(0.95f));
    dim_text(fmt::format("counters {}", charts::counter_share_text(*counters)));
    explain(context.glossary, word_of(counters->kind));
  }
}

void sweep_cell(const Context& context) {
  if (!context.sweep.runs()) return;
  const sweep::Job& job = *context.sweep.job();
  divider();
  clipped("sweep " + sweep::progress_text(*job.state(), job.paused()), em(26), palette().dim);
  tooltip("The sweep of " + job.plan().kernel.id + ". The Sweep panel has its results, and pauses and ends it");
}

// A command in the background, wherever its pane is, and its end until someone has looked.
void command_cell(const Context& context) {
  const CommandPane& command = context.command;
  if (!command.running() && !command.has_news()) return;
  divider();
  clipped(command.state_words(), em(24), command.running() ? palette().accent : palette().text);
  if (ImGui::IsItemClicked()) context.command.show();
  ImGui::SameLine(0, em(0.4f));
  if (!command.running()) {
    if (ImGui::SmallButton("show###show command")) context.command.show();
    return;
  }
  if (ImGui::SmallButton("cancel###cancel command")) context.command.cancel();
  context.wake_within(1);  // the time left is told again
}

void draw_status(Context& context) {
  device_cell(context);
  worker_cells(context);
  kind_cells(context);
  if (context.snapshot.queue_waiting > 0) {
    divider();
    dim_text(fmt::format("{} queued", context.snapshot.queue_waiting));
  }
  sweep_cell(context);
  command_cell(context);
  const std::string maps = context.pixels.way.empty() ? "" : fmt::format("maps: {}   ", context.pixels.way);
  const std::string right = maps + fmt::format("frame {:.1f} ms", context.frame_ms);
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionAvail().x, width = width_of(right);
  if (room > width) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    dim_text(right);
    tooltip(context.pixels.why + " The frame's time is the CPU's for building it, the slowest of the last second.");
  } else {
    ImGui::NewLine();
  }
}

}  // namespace

void status_bar(Context& context) {
  edge_bar("##status", ImGuiDir_Down, kSmallSize, 0.35f, palette().window, [&] { draw_status(context); });
}

}  // namespace attnscope::ui
