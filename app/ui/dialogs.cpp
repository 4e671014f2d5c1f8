#include "ui/dialogs.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ui/icons.h"
#include "ui/panels/panel.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

void have_or_lack(bool have, const std::string& words) {
  wrapped(fmt::format("{}  {}", have ? ICON_CHECK : ICON_WARNING, words), have ? palette().text : palette().warn);
}

void draw_worker(const Context& context, const session::WorkerStatus& worker) {
  using session::WorkerState;
  ImGui::PushID(worker.name.c_str());
  ImGui::Dummy({0, em(0.3f)});
  ImGui::PushFont(fonts().strong, 0);
  text(fmt::format("worker {}: {}", worker.name, to_string(worker.state)));
  ImGui::PopFont();
  if (worker.state == WorkerState::lost) {
    ImGui::SameLine(0, em(0.8f));
    if (ImGui::SmallButton("Try again")) context.session.reconnect(worker.name);
  }
  const Versions& v = worker.versions;
  if (v.app.empty()) {  // the worker has not said hello yet
    wrapped(worker.detail.empty() ? "It has not answered yet." : worker.detail, palette().dim);
  } else {
    have_or_lack(!v.nvrtc.empty(), v.nvrtc.empty() ? "No NVRTC: a kernel that is not in the cache cannot be compiled."
                                                   : "NVRTC " + v.nvrtc + " compiles kernels.");
    have_or_lack(!v.driver.empty(),
                 v.driver.empty() ? "No NVIDIA driver: kernels are executed by the emulator, and latency is modelled."
                                  : "Driver " + v.driver + ".");
  }
  if (!worker.devices.empty() &&
      ImGui::BeginTable("##devices", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    for (const DeviceSpec& device : worker.devices) {
      ImGui::TableNextColumn();
      text(device.id);
      ImGui::TableNextColumn();
      text(fmt::format("{}, sm_{}", device.name, device.arch));
      ImGui::TableNextColumn();
      dim_text(device.emulated ? "emulated: counts exact, latency modelled" : "latency measured");
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
}

// A command's line on the sheet. Returns true if it was pressed and can run.
bool draw_command(const Action& action) {
  const std::string refusal = action.refusal(), keys = action.keys_text();
  const bool able = action.run != nullptr && refusal.empty();
  ImGui::PushID(action.id.c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, refusal.empty() ? palette().text : palette().faint);
  const float room = ImGui::GetContentRegionAvail().x, width = width_of(keys);
  const std::string title = shortened(action.title, room - width - em(1));
  const bool pressed = ImGui::Selectable((title + "###command").c_str(), false, ImGuiSelectableFlags_NoAutoClosePopups);
  ImGui::PopStyleColor();
  tooltip(!refusal.empty() ? refusal : title != action.title ? action.title : "");
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
  dim_text(keys);
  ImGui::PopID();
  return pressed && able;
}

}  // namespace

void Dialogs::draw(Context& context, const Actions& actions) {
  if (!wanted_.empty()) ImGui::OpenPopup(std::exchange(wanted_, {}).c_str());
  draw_commands(actions);
  draw_glossary(context);
  draw_found(context);
  draw_about(context);
}

// Every command that has a key, by group; the palette also lists those that have none. A click runs the command.
void Dialogs::draw_commands(const Actions& actions) {
  if (!begin_modal("Commands", 62)) return;
  std::vector<std::string> groups;
  for (const Action& action : actions.all())
    if (!action.keys_text().empty() && std::ranges::find(groups, action.group) == groups.end())
      groups.push_back(action.group);
  const Action* chosen = nullptr;
  const int columns = std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / em(19)), 1, 3);
  if (ImGui::BeginTable("##groups", columns, ImGuiTableFlags_SizingStretchSame)) {
    for (const std::string& group : groups) {
      ImGui::TableNextColumn();
      section(group.c_str());
      for (const Action& action : actions.all())
        if (action.group == group && !action.keys_text().empty() && draw_command(action)) chosen = &action;
      ImGui::Dummy({0, em(0.4f)});
    }
    ImGui::EndTable();
  }
  const Action* palette_action = actions.find("palette");
  dim_text("All other commands: " + (palette_action != nullptr ? palette_action->keys_text() : ""));
  if (chosen != nullptr) ImGui::CloseCurrentPopup();
  end_modal();
  if (chosen != nullptr) chosen->run();
}

void Dialogs::draw_glossary(const Context& context) {
  if (!begin_modal("Glossary", 40)) return;
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##filter", ICON_SEARCH "  filter", &filter_);
  if (ImGui::BeginChild("words", {0, em(24)})) {
    for (const auto& [word, sentence] : context.glossary.entries()) {
      if (!filter_.empty() && word.find(filter_) == std::string::npos && sentence.find(filter_) == std::string::npos)
        continue;
      ImGui::PushFont(fonts().strong, 0);
      text(word);
      ImGui::PopFont();
      wrapped(sentence, palette().dim);
      ImGui::Dummy({0, em(0.2f)});
    }
  }
  ImGui::EndChild();
  end_modal();
}

// What the workers have, what they lack, and what each missing part prevents.
void Dialogs::draw_found(const Context& context) {
  if (!begin_modal("What was found", 40)) return;
  if (!context.snapshot.device_reason.empty()) wrapped(context.snapshot.device_reason, palette().text);
  for (const session::WorkerStatus& worker : context.snapshot.workers) draw_worker(context, worker);
  ImGui::Dummy({0, em(0.3f)});
  wrapped("attnscope doctor, in a terminal, says more, and how to get what is missing.", palette().dim);
  end_modal();
}

void Dialogs::draw_about(const Context& context) {
  if (!begin_modal("About attnscope", 34)) return;
  ImGui::PushFont(fonts().strong, kMediumSize);
  text("attnscope");
  ImGui::PopFont();
  wrapped(
      "An oscilloscope for attention kernels. Turn a knob and watch the real CUDA kernel's latency, shared memory, "
      "occupancy and error move at once.",
      palette().dim);
  for (const session::WorkerStatus& worker : context.snapshot.workers)
    if (!worker.versions.app.empty())
      wrapped(fmt::format("worker {}: attnscope {}", worker.name, worker.versions.app), palette().text);
  wrapped(
      fmt::format(
          "Dear ImGui {}, ImPlot, ImGuiColorTextEdit, GLFW. Fonts: Inter, JetBrains Mono, Font Awesome (SIL OFL 1.1).",
          ImGui::GetVersion()),
      palette().faint);
  end_modal();
}

}  // namespace attnscope::ui
