#include "ui/dialogs.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <utility>

#include "ui/icons.h"
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
  if (v.app.empty()) {  // no hello yet
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

}  // namespace

void Dialogs::draw(Context& context, const Actions& actions) {
  if (!wanted_.empty()) ImGui::OpenPopup(std::exchange(wanted_, {}).c_str());
  draw_shortcuts(actions);
  draw_glossary(context);
  draw_found(context);
  draw_about(context);
}

void Dialogs::draw_shortcuts(const Actions& actions) {
  if (!begin_modal("Shortcuts", 26)) return;
  if (ImGui::BeginTable("##keys", 2, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    for (const Action& action : actions.all()) {
      if (action.chord == 0) continue;
      ImGui::TableNextColumn();
      text(action.title);
      ImGui::TableNextColumn();
      dim_text(chord_text(action.chord));
    }
    for (const auto& [what, keys] :
         {std::pair{"Step a knob that has the focus", "Left, Right"}, {"Move between controls", "Tab, arrow keys"}}) {
      ImGui::TableNextColumn();
      text(what);
      ImGui::TableNextColumn();
      dim_text(keys);
    }
    ImGui::EndTable();
  }
  end_modal();
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

// What the workers have, what they lack, and what each missing part costs.
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
      fmt::format("Dear ImGui {}, ImPlot, Hello ImGui, GLFW. Fonts: Inter, JetBrains Mono, Font Awesome (SIL OFL 1.1).",
                  ImGui::GetVersion()),
      palette().faint);
  end_modal();
}

}  // namespace attnscope::ui
