#include "ui/session_dialog.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ui/found_words.h"
#include "ui/icons.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr size_t kLongestTitle = 120, kLongestNote = 2000;  // bytes

}  // namespace

bool SessionDialog::matches(const session::SavedSession& one) const {
  return holds_words(one.title, search_) || holds_words(one.note, search_) || holds_words(one.kernel, search_);
}

// The note of the session of that title, which saving replaces.
void SessionDialog::take_note(const Context& context) {
  const auto& saved = *context.snapshot.sessions;
  const auto found = std::ranges::find(saved, title_, &session::SavedSession::title);
  if (found != saved.end()) note_ = found->note;
}

void SessionDialog::draw(Context& context, const std::function<Json()>& view) {
  if (std::exchange(opens_, false)) {
    title_ = context.snapshot.opened.title;
    note_.clear();
    take_note(context);
    search_.clear();
    ImGui::OpenPopup("Sessions");
  }
  if (!begin_modal("Sessions", 44)) return;
  if (context.snapshot.user_preset_dir.empty()) {
    wrapped("This window keeps nothing, so it has no sessions.", palette().dim);
    return end_modal();
  }
  wrapped("A session has the experiment, the runs of the history, A and the layout as they are now.", palette().dim);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(em(14));
  bool entered = ImGui::InputTextWithHint("##title", "title", &title_, ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemEdited()) take_note(context);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(16));
  entered |= ImGui::InputTextWithHint("##note", "note", &note_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const auto& saved = *context.snapshot.sessions;
  const bool replaces = std::ranges::find(saved, title_, &session::SavedSession::title) != saved.end();
  const bool ready = !title_.empty() && title_.size() <= kLongestTitle && note_.size() <= kLongestNote;
  ImGui::BeginDisabled(!ready);
  if (ImGui::Button(replaces ? "Replace###save" : "Save###save") || (entered && ready)) {
    context.session.save_session(title_, note_, view());
  }
  ImGui::EndDisabled();
  if (replaces) tooltip("The one of that title goes to the bin.");
  if (!ready) tooltip(title_.empty() ? "A session needs a title." : "That is too long.");
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##search", ICON_SEARCH "  search titles, notes and kernels", &search_);
  draw_saved(context, em(14));
  draw_bin(context);
  end_modal();
}

void SessionDialog::draw_saved(Context& context, float height) {
  if (ImGui::BeginChild("saved", {0, height}, ImGuiChildFlags_Borders)) {
    bool any = false;
    for (const session::SavedSession& one : *context.snapshot.sessions) {
      if (!matches(one)) continue;
      any = true;
      ImGui::PushID(one.path.c_str());
      if (ImGui::SmallButton("Open")) {
        context.session.open_session(one.path);
        ImGui::CloseCurrentPopup();
      }
      ImGui::SameLine();
      if (ImGui::SmallButton("Delete")) context.session.delete_session(one.path);
      tooltip("It goes to the bin below, and can be taken back.");
      ImGui::SameLine();
      text(one.title);
      tooltip(one.path);
      ImGui::SameLine();
      clipped(one.kernel + (one.note.empty() ? "" : ": " + one.note), ImGui::GetContentRegionAvail().x, palette().dim);
      ImGui::PopID();
    }
    if (!any) dim_text(context.snapshot.sessions->empty() ? "No session was saved yet." : "No match.");
  }
  ImGui::EndChild();
}

void SessionDialog::draw_bin(Context& context) const {
  const auto& deleted = *context.snapshot.deleted_sessions;
  if (deleted.empty() || !ImGui::TreeNode(fmt::format("Bin ({})###bin", deleted.size()).c_str())) return;
  for (const session::SavedSession& one : deleted) {
    if (!matches(one)) continue;
    ImGui::PushID(one.path.c_str());
    if (ImGui::SmallButton("Take back")) context.session.restore_session(one.path);
    ImGui::SameLine();
    clipped(one.title, ImGui::GetContentRegionAvail().x, palette().dim);
    tooltip(one.path);
    ImGui::PopID();
  }
  ImGui::TreePop();
}

}  // namespace attnscope::ui
