#include "ui/baseline_strip.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/words.h"
#include "session/naming.h"
#include "ui/icons.h"
#include "ui/widgets/edge_bar.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

struct SideWords {
  std::string words, full;
  ImU32 colour = 0;
};

SideWords words_of_a(const Context& context) {
  const session::HistoryEntry* a = context.baseline.entry;
  if (a == nullptr || a->observation == nullptr)
    return {"no earlier run with a time", "A is the comparable run before the shown one, or one that is pinned.",
            palette().faint};
  const Experiment& experiment = a->observation->experiment;
  const Kernel* kernel = session::find_kernel(context.snapshot, experiment.kernel);
  return {fmt::format("{} (run {})", charts::config_words(experiment, kernel, a->config_text), a->id), a->config_text,
          palette().text};
}

// How B differs from A, and which run it is.
SideWords words_of_b(const Context& context) {
  const Shown& shown = context.shown;
  const session::HistoryEntry* a = context.baseline.entry;
  const bool kept = shown.state(session::Part::timing) == session::PartState::kept;
  const std::string run = shown.running()          ? "running"
                          : kept || shown.run == 0 ? (shown.failure() != nullptr ? std::string("no run") : "not run")
                                                   : fmt::format("run {}", shown.run);
  std::string words = shown.config_words;
  if (context.baseline.is_shown) {
    words = "A itself";
  } else if (a != nullptr && a->observation != nullptr) {
    const Experiment& b = shown.from_history() ? shown.observation->experiment : context.snapshot.focus.wanted;
    const Kernel* kernel = session::find_kernel(context.snapshot, b.kernel);
    words = b == a->observation->experiment ? "the same again"
                                            : session::difference_text(b, a->observation->experiment, kernel);
  }
  return {fmt::format("{} ({})", words, run), shown.config_text, palette().text};
}

SideWords verdict_of(const Context& context) {
  const Baseline& baseline = context.baseline;
  if (baseline.entry == nullptr || baseline.is_shown) return {};
  if (baseline.delta) {
    const charts::Standing& standing = baseline.delta->standing;
    const int better = charts::better(standing);
    const char* icon = better > 0 ? ICON_CHECK "  " : better < 0 ? ICON_WARNING "  " : "";
    return {icon + charts::verdict_text(standing), baseline.delta->detail,
            better > 0   ? palette().good
            : better < 0 ? palette().bad
                         : palette().dim};
  }
  if (context.shown.running()) return {"running", "", palette().dim};
  const Failure* failure = context.shown.failure();
  return {charts::verdict_text({charts::Outcome::not_comparable, Unlike::untimed}),
          failure != nullptr ? std::string(words_of(failure->stage)) + ": " + failure->message : std::string(),
          palette().dim};
}

void pin_button(Context& context) {
  const Baseline& baseline = context.baseline;
  ImGui::BeginDisabled(baseline.entry == nullptr);
  ImGui::PushStyleColor(ImGuiCol_Text, baseline.pinned ? palette().accent : palette().dim);
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  const bool pressed = ImGui::SmallButton(ICON_PIN "###pin A");
  ImGui::PopStyleColor(2);
  ImGui::EndDisabled();
  tooltip(baseline.entry == nullptr ? "There is no run to pin yet."
          : baseline.pinned
              ? fmt::format("Run {} is pinned as A. Click to take the run before again.", baseline.run())
              : fmt::format("Click to pin run {} as A, so that later runs are shown against it.", baseline.run()));
  if (!pressed) return;
  if (baseline.pinned)
    context.settings.pinned.reset();
  else
    context.settings.pinned = pin_of(*baseline.entry);
}

// Draws a letter and its text, cut to `room` pixels.
void side(const Context& context, const char* letter, const SideWords& side, float room) {
  ImGui::PushFont(fonts().strong, 0);
  term(context.glossary, letter, letter, palette().accent);
  const float taken = width_of(letter);
  ImGui::PopFont();
  ImGui::SameLine(0, em(0.45f));
  ImGui::PushStyleColor(ImGuiCol_Text, side.colour);
  text(shortened(side.words, room - taken - em(0.45f)));
  ImGui::PopStyleColor();
  tooltip(side.full.empty() || side.full == side.words ? side.words : side.words + "\n\n" + side.full);
}

void draw_baseline(Context& context) {
  const SideWords a = words_of_a(context), b = words_of_b(context), verdict = verdict_of(context);
  pin_button(context);
  ImGui::SameLine(0, em(0.5f));
  ImGui::PushFont(fonts().strong, 0);
  const float verdict_width = std::min(width_of(verdict.words), ImGui::GetContentRegionAvail().x * 0.45f);
  const float padding = 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::PopFont();
  const float arrow = width_of(ICON_ARROW_RIGHT) + em(1.6f), letters = em(2.2f);
  const float room = std::max(0.0f, ImGui::GetContentRegionAvail().x - verdict_width - padding - arrow - em(1));
  const float wanted_a = width_of(a.words) + letters, wanted_b = width_of(b.words) + letters;
  // A side that needs less than half gives the rest to the other.
  const float room_a = wanted_a + wanted_b <= room ? wanted_a : std::max(room - wanted_b, std::min(wanted_a, room / 2));
  side(context, "A", a, room_a);
  ImGui::SameLine(0, em(0.8f));
  dim_text(ICON_ARROW_RIGHT);
  ImGui::SameLine(0, em(0.8f));
  side(context, "B", b, room - room_a);
  if (!verdict.words.empty()) {
    ImGui::SameLine(0, 0);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - verdict_width - padding);
    ImGui::PushFont(fonts().strong, 0);
    const std::string fitting = shortened(verdict.words, verdict_width + 1);
    ImGui::PushStyleColor(ImGuiCol_Text, verdict.colour);
    ImGui::PushStyleColor(ImGuiCol_Button, 0);
    if (ImGui::SmallButton((fitting + "###verdict").c_str())) context.explain();
    ImGui::PopStyleColor(2);
    ImGui::PopFont();
    tooltip((verdict.full.empty() ? "" : verdict.words + "\n\n" + verdict.full + "\n\n") +
            "Click to see why, term by term.");
  }
}

}  // namespace

void baseline_strip(Context& context) {
  edge_bar("##baseline", ImGuiDir_Up, kBaseSize * 0.9f, 0.22f, palette().panel, [&] { draw_baseline(context); });
}

}  // namespace attnscope::ui
