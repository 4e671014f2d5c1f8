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
constexpr size_t kMostLines = 8;  // with most samples

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

// A table of four columns of text; `rows(line)` calls line for each.
template <class Rows>
void draw_table(const char* id, Rows rows) {
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable(id, 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    rows([](ImU32 colour, auto... words) {
      ImGui::TableNextRow();
      for (const std::string_view text : {std::string_view(words)...}) {
        ImGui::TableNextColumn();
        clipped(text, ImGui::GetContentRegionAvail().x, colour);
      }
    });
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

void draw_figures(const HardwareCounters& hardware, const Counters* counted) {
  draw_table("hardware", [&](auto line) {
    line(palette().faint, "", "GPU", "emulator", "difference");
    for (const charts::HardwareFigure& one : charts::hardware_figures(hardware, counted))
      line(palette().text, one.name, one.measured, one.counted, one.difference);
  });
}

void draw_failure(const Failure& failure) {
  wrapped(failure.message, palette().warn);
  wrapped(failure.hint, palette().dim);
}

// The lines of the source where the GPU's warps were, beside the model's.
void draw_samples(const std::vector<Finding>& findings) {
  const charts::SamplesTaken taken = charts::samples_taken(findings);
  if (taken.refused) return wrapped(taken.words, palette().warn);
  if (taken.words.empty()) return;
  small_text(taken.words, palette().dim);
  draw_table("samples", [&](auto line) {
    line(palette().faint, "line", "GPU's warps", "model's time", "what they wait for");
    for (const charts::SampleRow& one : charts::sample_rows(findings, kMostLines))
      line(palette().text, one.place, one.share, one.modelled, one.stall);
  });
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
    draw_failure(*failure);
  } else if (seen->hardware) {
    small_text(fmt::format("{} with CUPTI {} in {} pass{}, caches hot, nothing timed", to_string(seen->hardware->kind),
                           seen->hardware->cupti, seen->hardware->passes, seen->hardware->passes == 1 ? "" : "es"),
               palette().dim);
    draw_figures(*seen->hardware, seen->counters ? &*seen->counters : nullptr);
  } else {
    wrapped("This device has no hardware counters that attnscope reads.", palette().warn);
  }
  if (failure == nullptr) draw_samples(seen->findings);
}

}  // namespace attnscope::ui
