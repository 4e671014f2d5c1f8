// The bottom of the experiment panel: notes on the experiment, in an area of their own.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "core/joined.h"
#include "ui/icons.h"
#include "ui/lesson_desk.h"
#include "ui/panels/experiment_panel.h"
#include "ui/widgets/control_label.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

// Does not depend on the notes, so that no control moves when one comes or goes. Longer notes scroll.
float ExperimentPanel::notes_height(float panel_height) { return std::floor(std::min(em(14), panel_height * 0.15f)); }

void ExperimentPanel::draw_notes_frame(float height) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + ImGui::GetWindowWidth(), low.y + height};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(low, high, mixed(palette().panel, palette().raised, 0.45f));
  list->AddLine(low, {high.x, low.y}, palette().line);
}

// The most urgent first: what prevents the experiment from running, refused values, warnings, the first start's
// invitation; then the notes by the preset's or the kernel's author.
void ExperimentPanel::draw_notes(Context& context, const Kernel* kernel) {
  const std::string pressing = pressing_notes(context);
  if (pressing != pressing_) ImGui::SetScrollY(0);
  pressing_ = pressing;
  draw_failure(context);
  if (kernel != nullptr) {
    draw_refusals(context, *kernel);
    draw_invitation(context, *kernel);
  }
  if (draw_preset_note(context)) return;
  // Shown as text until the invitation is gone; later on hover over the device.
  if (!context.settings.invited && !context.snapshot.device_reason.empty())
    wrapped(context.snapshot.device_reason, palette().dim, kSmallSize);
  if (kernel != nullptr && !kernel->story.empty())
    wrapped_to_fit(kernel->story, palette().dim, kSmallSize, ImGui::GetContentRegionAvail().y);
}

// The failure of the experiment that the knobs describe; null if it has none, or if a run of the history is shown.
const Failure* ExperimentPanel::live_failure(const Context& context) {
  return context.shown.from_history() ? nullptr : context.shown.failure();
}

// True if a failure box already says why the config cannot run. The controls' own prediction then only offers the
// remedy.
bool ExperimentPanel::told_by_failure(const Context& context) const {
  const Failure* failure = live_failure(context);
  return illegal_ && failure != nullptr && (failure->stage == Stage::limits || failure->stage == Stage::input);
}

std::string ExperimentPanel::pressing_notes(const Context& context) const {
  std::string words;
  if (const Failure* failure = live_failure(context); failure != nullptr)
    words += readout_of(failure->stage) == Readout::experiment ? failure->message : words_of(failure->stage);
  if (illegal_ && !told_by_failure(context)) words += "|" + illegal_->reason;
  for (const auto& [name, refusal] : refused_) words += "|" + name + refusal.reason;
  for (const std::string& warning : warnings_) words += "|" + warning;
  return words + "|" + context.snapshot.preset_path;
}

// The preset author's note: what the preset is from, and what to turn. Returns false if there is none, or if it was
// dismissed.
bool ExperimentPanel::draw_preset_note(const Context& context) {
  const session::Snapshot& snapshot = context.snapshot;
  if (snapshot.preset_note.empty() || note_closed_ == snapshot.preset_path) return false;
  ImGui::PushID("note");
  ImGui::PushFont(fonts().strong, kSmallSize);
  const float button = em(1.6f);
  clipped(snapshot.preset_title, ImGui::GetContentRegionAvail().x - button, palette().text);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - button);
  if (ImGui::SmallButton(ICON_CLOSE "##put away")) note_closed_ = snapshot.preset_path;
  ImGui::PopFont();
  wrapped(snapshot.preset_note, palette().dim, kSmallSize);
  ImGui::PopID();
  return true;
}

void ExperimentPanel::draw_failure(Context& context) {
  if (live_failure(context) == nullptr) return;
  failure_view(context, Readout::experiment);
  ImGui::Dummy({0, em(0.2f)});
}

void ExperimentPanel::draw_refusals(Context& context, const Kernel& kernel) {
  if (illegal_) {
    const bool told = told_by_failure(context);
    if (!told) wrapped(ICON_CLOSE "  " + illegal_->reason, palette().bad, kSmallSize);
    if (!told || !illegal_->remedy.empty()) draw_remedy(context, kernel, "##illegal", *illegal_);
  }
  for (const std::string& warning : warnings_) wrapped(ICON_WARNING "  " + warning, palette().warn, kSmallSize);
  for (const auto& [name, refusal] : refused_) {
    wrapped(ICON_CLOSE "  " + refusal.reason, palette().bad, kSmallSize);
    if (draw_remedy(context, kernel, name.c_str(), refusal)) break;  // it is no longer refused
  }
}

// The remedy as a button that applies it in one undo step, however many knobs it sets.
bool ExperimentPanel::draw_remedy(Context& context, const Kernel& kernel, const char* id, const Refusal& refusal) {
  if (refusal.remedy.empty()) {
    if (!refusal.hint.empty()) wrapped(ICON_ARROW_RIGHT "  " + refusal.hint, palette().dim, kSmallSize);
    return false;
  }
  const std::string words = joined(refusal.remedy, [&](const auto& knob) {
    return knob.first + " " + kernel.find_knob(knob.first)->text_of(knob.second);
  });
  ImGui::PushID(id);
  ImGui::PushFont(nullptr, kSmallSize);
  const std::string fitting = shortened("Set " + words, ImGui::GetContentRegionAvail().x - em(3));
  const bool taken = ImGui::Button((ICON_ARROW_RIGHT "  " + fitting + "###remedy").c_str());
  ImGui::PopFont();
  ImGui::PopID();
  if (!taken) return false;
  Draft wish = context.draft.current();
  const std::map<std::string, int64_t> remedy =
      refusal.remedy;  // a copy, because erasing the first refusal destroys `refusal`
  for (const auto& [name, value] : remedy) {
    wish.config.knobs[name] = value;
    refused_.erase(name);
  }
  context.post(std::move(wish), {context.new_gesture(), true, words});
  return true;
}

// A lesson says itself what to turn, so there is no invitation then.
bool ExperimentPanel::invites(const Context& context) {
  return !context.settings.invited && context.lesson.progress() == nullptr && !context.snapshot.invite.empty();
}

void ExperimentPanel::draw_invitation(Context& context, const Kernel& kernel) {
  if (!invites(context)) return;
  const auto& [name, value] = *context.snapshot.invite.begin();
  const Knob* knob = kernel.find_knob(name);
  const auto row = std::ranges::find(rows_, name, &KnobRow::name);
  if (knob == nullptr || row == rows_.end()) return;
  if (std::ranges::none_of(row->values, [&](const RailValue& v) { return v.value == value && v.legal; })) return;
  Draft wish = context.draft.current();
  const int64_t from = wish.config.knobs.contains(name) ? wish.config.knobs[name] : knob->default_value;
  if (from == value) return;  // already set
  ImGui::PushFont(fonts().strong, kBaseSize * 0.9f);
  const std::string words = fmt::format("{}  Move {} to {}###invitation", ICON_LIGHTBULB, name, knob->text_of(value));
  const float lessons = width_of("Lessons") + 2 * ImGui::GetStyle().FramePadding.x;
  const float room = ImGui::GetContentRegionAvail().x - lessons - ImGui::GetStyle().ItemSpacing.x;
  if (leading_button(words.c_str(), {room, 0})) {
    wish.config.knobs[name] = value;
    context.settings.invited = true;
    context.post(std::move(wish), {context.new_gesture(), true, change_text(*knob, from, value)});
  }
  ImGui::PopFont();
  tooltip("Latency, shared memory, occupancy and error all answer.");
  ImGui::SameLine();
  if (ImGui::Button("Lessons###first lessons", {lessons, 0})) context.show_lessons();
  tooltip("New to this? Lessons explain it step by step; no GPU is needed.");
}

}  // namespace attnscope::ui
