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

// A of the shown run, if it stands beside it; null: it does not.
session::Shared<Observation> a_of(const Context& context) {
  return context.baseline.ghost != nullptr ? context.baseline.entry->observation : nullptr;
}

void draw_button(Context& context, const std::string& hash, const std::string& hash_a) {
  HardwareDesk& desk = context.hardware;
  if (desk.reads()) {
    const std::string& reading = desk.reading();
    if (ImGui::Button("Cancel###cancel hardware")) desk.cancel();
    ImGui::SameLine();
    const std::string how = desk.progress();
    const std::string whose = reading == hash ? "Reading" : "Reading A's counters";
    small_text(desk.is_cancelled()                    ? "Ending\u2026"
               : reading != hash && reading != hash_a ? "Reading another run's counters"
               : desk.waits()                         ? "Waits for what is timed"
                                                      : whose + (how.empty() ? std::string("\u2026") : ": " + how),
               palette().dim);
    context.wake_within(kLookSeconds);
    return;
  }
  const auto button = [&](const char* name, const Experiment& experiment, const char* says) {
    const std::string refusal = desk.refusal(context.snapshot, experiment);
    ImGui::BeginDisabled(!refusal.empty());
    if (ImGui::Button(name)) desk.read(context.session, context.snapshot, experiment);
    ImGui::EndDisabled();
    if (refusal.empty()) tooltip(says);
    return refusal;
  };
  std::string refusal = button(
      "Read hardware counters", context.shown.observation->experiment,
      "A worker of its own profiles the shown config through CUPTI, and the emulator counts the same machine code. "
      "Nothing is timed there, and nothing is profiled where times are measured: runs on this GPU wait meanwhile.");
  const session::Shared<Observation> a = a_of(context);
  if (a != nullptr && hash_a != hash && desk.of(hash) != nullptr && desk.of(hash_a) == nullptr) {
    ImGui::SameLine();
    const std::string of_a = button("Read A's", a->experiment, "The same for A, whose figures then stand beside these");
    if (refusal.empty() && !of_a.empty()) refusal = "A: " + of_a;
  }
  if (!refusal.empty()) small_text(refusal, palette().dim);
}

// A table of columns of text; `rows(line)` calls line for each row.
template <class Rows>
void draw_table(const char* id, int columns, Rows rows) {
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable(id, columns, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    rows([&](ImU32 colour, const std::vector<std::string>& words) {
      ImGui::TableNextRow();
      for (const std::string& one : words) {
        ImGui::TableNextColumn();
        clipped(one, ImGui::GetContentRegionAvail().x, colour);
      }
    });
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

// `words`, with A's figure after the second one if there is an A.
std::vector<std::string> row_with_a(std::vector<std::string> words, bool against, const std::string& a) {
  if (against) words.insert(words.begin() + 2, a);
  return words;
}

void draw_figures(const HardwareCounters& hardware, const Counters* counted, const HardwareCounters* a) {
  const bool against = a != nullptr;
  draw_table("hardware", against ? 5 : 4, [&](auto line) {
    line(palette().faint, row_with_a({"", "GPU", "emulator", "difference"}, against, "A"));
    for (const charts::HardwareFigure& one : charts::hardware_figures(hardware, counted, a))
      line(palette().text, row_with_a({one.name, one.measured, one.counted, one.difference}, against, one.a));
  });
}

// Why a reading has no counters; null: it has them, or there are none to read.
const Failure* failure_of(const Observation& reading) {
  return reading.failure                                 ? &*reading.failure
         : reading.hardware && reading.hardware->failure ? &*reading.hardware->failure
                                                         : nullptr;
}

void draw_failure(const Failure& failure) {
  wrapped(failure.message, palette().warn);
  wrapped(failure.hint, palette().dim);
}

// The lines of the source where the GPU's warps were, beside the model's. `a`: the findings of A; null: not beside
// them.
void draw_samples(const std::vector<Finding>& findings, const std::vector<Finding>* a) {
  const charts::SamplesTaken taken = charts::samples_taken(findings);
  if (taken.refused) return wrapped(taken.words, palette().warn);
  if (taken.words.empty()) return;
  small_text(taken.words, palette().dim);
  const std::vector<charts::SampleRow> rows = charts::sample_rows(findings, kMostLines, a);
  const bool against = !rows.empty() && !rows.front().a.empty();
  draw_table("samples", against ? 5 : 4, [&](auto line) {
    line(palette().faint,
         row_with_a({"line", "GPU's warps", "model's time", "what they wait for"}, against, "A's warps"));
    for (const charts::SampleRow& one : rows)
      line(palette().text, row_with_a({one.place, one.share, one.modelled, one.stall}, against, one.a));
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
  const session::Shared<Observation> a = a_of(context);
  const std::string hash = context.hardware.hash_of_run(context.shown.observation);
  const std::string hash_a = a != nullptr ? context.hardware.hash_of_run(a) : "";
  draw_button(context, hash, hash_a);
  const Observation* seen = context.hardware.of(hash);
  if (seen == nullptr) return;
  const Failure* failure = failure_of(*seen);
  // A's, unless it is the same experiment: the last reading of that is B's.
  const Observation* seen_a = a != nullptr && hash_a != hash ? context.hardware.of(hash_a) : nullptr;
  if (failure != nullptr) {
    draw_failure(*failure);
  } else if (const HardwareCounters* hardware = charts::read_counters(seen); hardware != nullptr) {
    small_text(fmt::format("{} with CUPTI {} in {} pass{}, caches hot, nothing timed", to_string(hardware->kind),
                           hardware->cupti, hardware->passes, hardware->passes == 1 ? "" : "es"),
               palette().dim);
    draw_figures(*hardware, seen->counters ? &*seen->counters : nullptr, charts::read_counters(seen_a));
  } else {
    wrapped("This device has no hardware counters that attnscope reads.", palette().warn);
  }
  if (seen_a != nullptr)
    if (const Failure* of_a = failure_of(*seen_a); of_a != nullptr) small_text("A: " + of_a->message, palette().warn);
  const bool one_source =
      seen_a != nullptr && a->experiment.kernel_hash == context.shown.observation->experiment.kernel_hash;
  if (failure == nullptr) draw_samples(seen->findings, one_source ? &seen_a->findings : nullptr);
}

}  // namespace attnscope::ui
