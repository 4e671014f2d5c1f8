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
constexpr float kSaved = 14, kBin = 6;                      // ems of height

}  // namespace

bool SessionDialog::matches(const session::SavedSession& one) const {
  return holds_words(one.title, search_) || holds_words(one.note, search_) || holds_words(one.kernel, search_);
}

// Takes the note of the session with that title, which saving replaces.
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
  const ImGuiStyle& style = ImGui::GetStyle();
  const float button = width_of("Replace") + 2 * style.FramePadding.x;  // the longer of its two labels
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - style.ItemSpacing.x);
  entered |= ImGui::InputTextWithHint("##note", "note", &note_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const auto& saved = *context.snapshot.sessions;
  const bool replaces = std::ranges::find(saved, title_, &session::SavedSession::title) != saved.end();
  const bool ready = !title_.empty() && title_.size() <= kLongestTitle && note_.size() <= kLongestNote;
  ImGui::BeginDisabled(!ready);
  if (ImGui::Button(replaces ? "Replace###save" : "Save###save", {button, 0}) || (entered && ready)) {
    context.session.save_session(title_, note_, view());
  }
  ImGui::EndDisabled();
  if (replaces) tooltip("The session with this title moves to the bin.");
  if (!ready) tooltip(title_.empty() ? "A session needs a title." : "That is too long.");
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##search", ICON_SEARCH "  search titles, notes and kernels", &search_);
  draw_saved(context, em(kSaved));
  draw_bin(context);
  end_modal();
}

void SessionDialog::draw_saved(Context& context, float height) {
  const auto& saved = *context.snapshot.sessions;
  const bool any = std::ranges::any_of(saved, [&](const session::SavedSession& one) { return matches(one); });
  if (ImGui::BeginChild("saved", {0, height}, ImGuiChildFlags_Borders)) {
    if (!any)
      wrapped(saved.empty() ? "No session was saved yet. Write a title above and press Save." : "No match.",
              palette().dim);
    else if (ImGui::BeginTable("sessions", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
      ImGui::TableSetupColumn("title", 0, 4);
      ImGui::TableSetupColumn("kernel", 0, 1.5f);
      ImGui::TableSetupColumn("note", 0, 5);
      ImGui::TableSetupColumn("##buttons", ImGuiTableColumnFlags_WidthFixed);
      for (const session::SavedSession& one : saved)
        if (matches(one)) draw_row(context, one);
      ImGui::EndTable();
    }
  }
  ImGui::EndChild();
}

// The open session's title has the accent colour and a mark.
void SessionDialog::draw_row(Context& context, const session::SavedSession& one) const {
  const Palette& p = palette();
  const bool open = one.path == context.snapshot.opened.path;
  const auto cell = [](const std::string& words, ImU32 colour) {
    ImGui::TableNextColumn();
    clipped(words, ImGui::GetContentRegionAvail().x, colour);
  };
  ImGui::PushID(one.path.c_str());
  cell((open ? ICON_CHECK "  " : "") + one.title, open ? p.accent : p.text);
  tooltip(one.path);
  cell(one.kernel, p.dim);
  cell(one.note, p.dim);
  ImGui::TableNextColumn();
  if (ImGui::SmallButton("Open")) {
    context.session.open_session(one.path);
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (ImGui::SmallButton("Delete")) context.session.delete_session(one.path);
  tooltip("It goes to the bin below, and can be taken back.");
  ImGui::PopID();
}

// The list has a fixed height, so the dialog fits the window however many sessions are in the bin.
void SessionDialog::draw_bin(Context& context) const {
  const auto& deleted = *context.snapshot.deleted_sessions;
  if (deleted.empty() || !ImGui::TreeNode(fmt::format("Bin ({})###bin", deleted.size()).c_str())) return;
  ImGui::BeginChild("bin", {0, em(kBin)}, ImGuiChildFlags_Borders);
  for (const session::SavedSession& one : deleted) {
    if (!matches(one)) continue;
    ImGui::PushID(one.path.c_str());
    if (ImGui::SmallButton("Take back")) context.session.restore_session(one.path);
    ImGui::SameLine();
    clipped(one.title, ImGui::GetContentRegionAvail().x, palette().dim);
    tooltip(one.path);
    ImGui::PopID();
  }
  ImGui::EndChild();
  ImGui::TreePop();
}

}  // namespace attnscope::ui
