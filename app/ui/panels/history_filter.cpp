// Which runs the history lists.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <utility>

#include "core/with_commas.h"
#include "ui/found_words.h"
#include "ui/icons.h"
#include "ui/panels/history_panel.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

// True if the run belongs to the open session and matches the search.
bool HistoryPanel::shows(const Context& context, const session::HistoryEntry& entry) const {
  const session::OpenedSession& opened = context.snapshot.opened;
  if (!opened.title.empty() && entry.id <= opened.since && !opened.runs->contains(entry.id)) return false;
  if (entry.observation == nullptr || !filter_.searches()) return true;
  const Observation& seen = *entry.observation;
  const auto found = context.snapshot.notes->find(seen.hash);
  const store::RunNote note = found == context.snapshot.notes->end() ? store::RunNote{} : found->second;
  if (filter_.starred && !note.starred) return false;
  return holds_words(
      seen.experiment.kernel + " " + entry.config_text + " " + entry.change + " " + note.text + " " + seen.device,
      filter_.words);
}

// The line above the runs. It is there as long as it hides any of them.
void HistoryPanel::draw_filter(Context& context) {
  const session::OpenedSession& opened = context.snapshot.opened;
  if (opened.title.empty() && !finds_ && !filter_.searches()) return;
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), em(0.05f)});
  if (!opened.title.empty()) {
    clipped("Session " + opened.title, em(18), palette().accent);
    tooltip("Only its runs, and those since it was opened, are listed");
    ImGui::SameLine(0, em(0.4f));
    if (ImGui::SmallButton(ICON_CLOSE "###close session")) context.session.close_session();
    tooltip("Lists every run again");
    ImGui::SameLine(0, em(1));
  }
  if (std::exchange(takes_focus_, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(em(16));
  ImGui::InputTextWithHint("##find", ICON_SEARCH "  kernel, config, change, note", &filter_.words);
  ImGui::SameLine(0, em(0.6f));
  ImGui::Checkbox(ICON_STAR "##starred", &filter_.starred);
  tooltip("Only runs with a star");
  ImGui::SameLine(0, em(0.6f));
  small_text(fmt::format("{} of {} runs", with_commas(std::ssize(order_)),
                         with_commas(int64_t(context.snapshot.history.size))),
             palette().dim);
  if (finds_ || filter_.searches()) {
    ImGui::SameLine(0, em(0.6f));
    if (ImGui::SmallButton(ICON_CLOSE "###close find")) {
      finds_ = filter_.starred = false;
      filter_.words.clear();
    }
    tooltip("Ends the search");
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

}  // namespace attnscope::ui
