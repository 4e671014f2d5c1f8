#include "ui/hardware_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "charts/hardware_rows.h"
#include "ui/hardware_desk.h"
#include "ui/panels/panel.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr double kLookSeconds = 0.2;

void draw_button(Context& context, const std::string& hash) {
  HardwareDesk& desk = context.hardware;
  if (desk.reads()) {
    const bool own = desk.reading() == hash;
    if (ImGui::Button("Cancel###cancel hardware")) desk.cancel();
    ImGui::SameLine();
    const std::string how = desk.progress();
    small_text(desk.is_cancelled() ? "Ending\u2026"
               : !own              ? "Reading another run's counters"
               : desk.waits()      ? "Waits for what is timed"
                                   : "Reading" + (how.empty() ? std::string("\u2026") : ": " + how),
               palette().dim);
    context.wake_within(kLookSeconds);
    return;
  }
  const std::string refusal = desk.refusal(context.snapshot, context.shown.observation->experiment);
  ImGui::BeginDisabled(!refusal.empty());
  if (ImGui::Button("Read hardware counters"))
    desk.read(context.session, context.snapshot, context.shown.observation->experiment);
  ImGui::EndDisabled();
  if (!refusal.empty()) {
    small_text(refusal, palette().dim);
    return;
  }
  tooltip(
      "A worker of its own profiles the shown config through CUPTI, and the emulator counts the same machine code. "
      "Nothing is timed there, and nothing is profiled where times are measured: runs on this GPU wait meanwhile.");
}

void draw_figures(const HardwareCounters& hardware, const Counters* counted) {
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable("hardware", 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    const auto line = [](std::string_view name, std::string_view measured, std::string_view emulated,
                         std::string_view difference, ImU32 colour) {
      ImGui::TableNextRow();
      for (const std::string_view words : {name, measured, emulated, difference}) {
        ImGui::TableNextColumn();
        clipped(words, ImGui::GetContentRegionAvail().x, colour);
      }
    };
    line("", "GPU", "emulator", "difference", palette().faint);
    for (const charts::HardwareFigure& one : charts::hardware_figures(hardware, counted))
      line(one.name, one.measured, one.counted, one.difference, palette().text);
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

}  // namespace

bool has_hardware_counters(const Context& context) {
  if (!context.shown.observation) return false;
  const DeviceSpec* device = session::find_device(context.snapshot, context.shown.observation->experiment.device);
  return device != nullptr && !device->emulated && std::ranges::count(device->runs, Library(LibraryId::source)) > 0;
}

void draw_hardware(Context& context) {
  section("The GPU's own counters");
  const std::string& hash = context.hardware.hash_of_run(context.shown.observation);
  draw_button(context, hash);
  const Observation* seen = context.hardware.of(hash);
  if (seen == nullptr) return;
  const Failure* failure = seen->failure                               ? &*seen->failure
                           : seen->hardware && seen->hardware->failure ? &*seen->hardware->failure
                                                                       : nullptr;
  if (failure != nullptr) {
    wrapped(failure->message, palette().warn);
    wrapped(failure->hint, palette().dim);
  } else if (seen->hardware) {
    small_text(fmt::format("{} with CUPTI {} in {} pass{}, caches hot, nothing timed", to_string(seen->hardware->kind),
                           seen->hardware->cupti, seen->hardware->passes, seen->hardware->passes == 1 ? "" : "es"),
               palette().dim);
    draw_figures(*seen->hardware, seen->counters ? &*seen->counters : nullptr);
  } else {
    wrapped("This device has no hardware counters that attnscope reads.", palette().warn);
  }
}

}  // namespace attnscope::ui
