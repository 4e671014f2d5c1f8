#include "ui/widgets/part.h"

#include <fmt/format.h>

#include "ui/icons.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kDimmed = 0.42f;

bool is_kept(session::PartState state) {
  return state == session::PartState::kept || state == session::PartState::failed;
}

const char* title_of(Readout readout) {
  switch (readout) {
    case Readout::experiment:
      return "Experiment";
    case Readout::memory:
      return "Shared memory";
    case Readout::error:
      return "Error";
    case Readout::latency:
      return "Latency";
  }
  return "";
}

}  // namespace

PartScope::PartScope(const Context& context, session::Part part) : dimmed_(is_kept(context.shown.state(part))) {
  if (dimmed_) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * kDimmed);
}

PartScope::~PartScope() {
  if (dimmed_) ImGui::PopStyleVar();
}

void part_note(const Context& context, session::Part part, const std::string& plain, const std::string& full) {
  ImGui::PushFont(nullptr, kSmallSize);
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string from = context.shown.from(part);
  if (context.shown.from_history()) {
    clipped(fmt::format(ICON_HISTORY "  run {}: {}", context.shown.history_id, context.shown.config_words), width,
            palette().accent);
  } else if (!from.empty()) {
    clipped(ICON_CLOCK "  the run before: " + from, width, palette().warn);
  } else if (context.shown.state(part) == session::PartState::partial) {
    clipped(ICON_NOTCH "  growing: " + context.snapshot.focus.stage, width, palette().dim);
  } else {
    ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
    text(shortened(plain, width));
    ImGui::PopStyleColor();
    tooltip(!full.empty() ? full : width_of(plain) > width ? plain : "");
  }
  ImGui::PopFont();
}

void progress_line(const Context& context) {
  if (!context.shown.running()) return;
  const ImVec2 at = ImGui::GetWindowPos();
  const float width = ImGui::GetWindowWidth(), height = std::max(2.0f, em(0.15f));
  const float share = f32(context.snapshot.focus.progress);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(at, {at.x + width, at.y + height});
  list->AddRectFilled(at, {at.x + width, at.y + height}, palette().line);
  if (share > 0) {
    list->AddRectFilled(at, {at.x + width * std::min(share, 1.0f), at.y + height}, palette().accent);
  } else {
    const float phase = f32(ImGui::GetTime() * 0.7 - static_cast<double>(static_cast<int64_t>(ImGui::GetTime() * 0.7)));
    const float begin = at.x + width * (phase * 1.3f - 0.3f);
    list->AddRectFilled({begin, at.y}, {begin + width * 0.3f, at.y + height}, palette().accent);
    context.wake_within(0.05);
  }
  list->PopClipRect();
}

void failure_box(const Failure& failure, const char* id, const std::function<void()>& again) {
  const Palette& p = palette();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, with_alpha(p.bad, 0.10f));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(em(0.7f), em(0.55f)));
  if (ImGui::BeginChild(id, {0, 0}, ImGuiChildFlags_AutoResizeY | ImGuiChildFlags_AlwaysUseWindowPadding,
                        ImGuiWindowFlags_NoScrollbar)) {
    ImGui::PushFont(fonts().strong, 0);
    ImGui::PushStyleColor(ImGuiCol_Text, p.bad);
    text(fmt::format(ICON_WARNING "  {}", words_of(failure.stage)));
    ImGui::PopStyleColor();
    ImGui::PopFont();
    wrapped(failure.message, p.text);
    if (!failure.hint.empty()) {
      ImGui::Dummy({0, em(0.1f)});
      wrapped(ICON_ARROW_RIGHT "  " + failure.hint, p.dim);
    }
    if (again && ImGui::Button(ICON_REFRESH "  Run again###again")) again();
    if (ImGui::BeginPopupContextWindow("copy failure")) {
      if (ImGui::MenuItem("Copy")) copy(failure.message + "\n" + failure.hint);
      ImGui::EndPopup();
    }
  }
  ImGui::EndChild();
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + em(0.2f), high.y}, p.bad, em(0.1f));
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

bool failure_view(Context& context, Readout readout) {
  const Failure* failure = context.shown.failure();
  if (failure == nullptr) return false;
  const Readout teller = readout_of(failure->stage);
  if (teller == readout) {
    std::function<void()> again;
    if (may_run_again(failure->stage) && !context.shown.from_history()) again = [&context] { context.session.rerun(); };
    failure_box(*failure, "##failure", again);
    return true;
  }
  small_text(fmt::format(ICON_WARNING "  {}: see {}", words_of(failure->stage), title_of(teller)), palette().bad);
  return false;
}

void empty_state(const char* icon, const std::string& headline, const std::string& words) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = std::min(room.x, em(18));
  const float left = ImGui::GetCursorPosX() + (room.x - width) / 2;
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::max(0.0f, room.y * 0.5f - em(3.5f)));
  auto centred = [&](const std::string& line, ImU32 colour) {
    ImGui::SetCursorPosX(left + std::max(0.0f, (width - width_of(line)) / 2));
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::PushTextWrapPos(left + width);
    text(line);
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  };
  ImGui::PushFont(nullptr, 26);
  centred(icon, palette().faint);
  ImGui::PopFont();
  ImGui::PushFont(fonts().strong, 0);
  centred(headline, palette().dim);
  ImGui::PopFont();
  if (!words.empty()) centred(words, palette().faint);
}

}  // namespace attnscope::ui
