#include "ui/preset_dialogs.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/paths.h"
#include "store/free_path.h"
#include "ui/icons.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kNote = 4.5f;  // ems of height for a preset's note

}  // namespace

std::string file_name_of(const std::string& title) { return store::file_name_of(title, "preset"); }

void PresetDialogs::save_as(const std::string& title) {
  title_ = title;
  path_.clear();
  looked_at_.clear();
  replaces_ = false;
  note_.clear();
  wanted_ = "Save the preset";
}

void PresetDialogs::manage() {
  managed_.clear();
  gallery_.reset();
  wanted_ = "Presets";
}

void PresetDialogs::draw(Context& context, const Json& view) {
  if (!wanted_.empty()) ImGui::OpenPopup(std::exchange(wanted_, {}).c_str());
  draw_open(context);
  draw_save(context, view);
  draw_manage(context);
}

// The folders that are likely to contain presets, each as a button.
void PresetDialogs::draw_places(const Context& context) {
  std::vector<std::pair<std::string, std::filesystem::path>> places;
  if (!user_presets_.empty()) places.emplace_back("Yours", user_presets_);
  if (context.snapshot.presets)
    for (const session::PresetItem& preset : *context.snapshot.presets)
      if (!preset.own) {
        places.emplace_back("Shipped", std::filesystem::path(preset.path).parent_path());
        break;
      }
  if (const std::string home = platform::environment("HOME"); !home.empty()) places.emplace_back("Home", home);
  if (ImGui::IsWindowAppearing())
    for (const auto& [name, folder] : places)  // the user's own comes first and exists only after a preset was saved
      if (browser_.folder().empty()) browser_.go(folder);
  for (size_t at = 0; at < places.size(); ++at) {
    if (at > 0) ImGui::SameLine();
    if (ImGui::Button(places[at].first.c_str())) browser_.go(places[at].second);
  }
}

void PresetDialogs::draw_open(Context& context) {
  if (!begin_modal("Open a preset", 40)) return;
  wrapped("Choose a preset's file, or drag one onto the window at any time.", palette().dim);
  draw_places(context);
  const bool double_clicked = browser_.draw(em(16));
  ImGui::SetNextItemWidth(-FLT_MIN);
  const std::string hint = browser_.chosen().empty() ? "or type a path" : browser_.chosen().string();
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextWithHint("##path", hint.c_str(), &path_, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::filesystem::path file = path_.empty() ? browser_.chosen() : std::filesystem::path(path_);
  ImGui::BeginDisabled(file.empty());
  if (ImGui::Button("Open") || double_clicked || (entered && !file.empty())) {
    context.session.load_preset(file);
    path_.clear();
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndDisabled();
  ImGui::SameLine();
  end_modal("Cancel");
}

void PresetDialogs::draw_save(Context& context, const Json& view) {
  if (!begin_modal("Save the preset", 34)) return;
  dim_text("title");
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  bool entered = ImGui::InputText("##title", &title_, ImGuiInputTextFlags_EnterReturnsTrue);
  dim_text("note, shown when it is loaded");
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextMultiline("##note", &note_, {0, em(4)});
  const std::string proposed =
      user_presets_.empty() ? "" : store::free_path(user_presets_, file_name_of(title_)).string();
  dim_text("file");
  ImGui::SetNextItemWidth(-FLT_MIN);
  entered |= ImGui::InputTextWithHint("##file", proposed.c_str(), &path_, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::string file = path_.empty() ? proposed : path_;
  const bool ready = !title_.empty() && !file.empty();
  if (path_ != looked_at_) {
    looked_at_ = path_;
    std::error_code unknown;
    replaces_ = !path_.empty() && std::filesystem::exists(path_, unknown);
  }
  small_text(replaces_ ? ICON_WARNING "  It exists and is replaced." : "", palette().warn);
  ImGui::BeginDisabled(!ready);
  if (ImGui::Button(replaces_ ? "Replace###save" : "Save###save") || (entered && ready)) {
    context.session.save_preset(file, title_, view);
    if (!note_.empty()) context.session.describe_preset(file, title_, note_);
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndDisabled();
  if (!ready) tooltip("A preset needs a title and a file.");
  ImGui::SameLine();
  end_modal("Cancel");
}

void PresetDialogs::choose(const session::PresetItem& preset) {
  managed_ = preset.path;
  title_ = preset.name;
  note_ = preset.note;
}

// A duplicate, or a file that was dropped, is chosen when it appears.
void PresetDialogs::choose_new(const session::Snapshot& snapshot) {
  const auto before = std::exchange(listed_, snapshot.presets);
  if (before == nullptr || before == listed_ || listed_ == nullptr) return;
  for (const session::PresetItem& preset : *listed_)
    if (preset.own && std::ranges::find(*before, preset.path, &session::PresetItem::path) == before->end()) {
      choose(preset);
      gallery_.bring_into_sight(preset.path);
    }
}

void PresetDialogs::draw_manage(Context& context) {
  manages_ = begin_modal("Presets", 60);
  if (!manages_) {
    listed_.reset();
    return;
  }
  const session::Snapshot& snapshot = context.snapshot;
  choose_new(snapshot);
  const ImGuiStyle& style = ImGui::GetStyle();
  const float details = ImGui::GetFrameHeightWithSpacing() + em(kNote);
  const float others = details + 2 * ImGui::GetFrameHeightWithSpacing() + em(6);  // also the title and the borders
  const float room = ImGui::GetMainViewport()->WorkSize.y * 0.9f - others - style.WindowPadding.y;
  const std::string picked = gallery_.draw(context, managed_, std::clamp(room, em(8), em(34)));
  const session::PresetItem* chosen = nullptr;
  for (const session::PresetItem& preset : *snapshot.presets) {
    if (preset.path == picked) choose(preset);
    if (preset.path == managed_) chosen = &preset;
  }
  if (gallery_.loads()) {
    context.session.load_preset(managed_);
    ImGui::CloseCurrentPopup();
  }
  // A preset's details have a reserved place, so that no button moves when one is chosen.
  const float from = ImGui::GetCursorPosY();
  if (chosen != nullptr)
    draw_details(*chosen);
  else
    wrapped(
        "Choose one to load it. You can rename, describe and delete your own. A preset's file that you drop here is "
        "kept among yours.",
        palette().dim);
  ImGui::SetCursorPosY(from + details);
  if (chosen != nullptr) draw_buttons(context, *chosen);
  end_modal();
}

void PresetDialogs::draw_details(const session::PresetItem& preset) {
  if (preset.own) {
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputTextWithHint("##title", "title", &title_);
    ImGui::InputTextMultiline("##note", &note_, {ImGui::GetContentRegionAvail().x, em(kNote)});
  } else {
    wrapped_to_fit(preset.note, palette().text, 0, em(kNote));
    wrapped("It ships with attnscope and cannot be changed: Duplicate makes a copy that is yours.", palette().faint,
            kSmallSize);
  }
}

// Does not end the line, so that the dialog's own button can follow.
void PresetDialogs::draw_buttons(Context& context, const session::PresetItem& preset) {
  if (ImGui::Button("Load")) {
    context.session.load_preset(preset.path);
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (ImGui::Button("Duplicate")) context.session.copy_preset(preset.path);
  tooltip("Makes a copy of your own that you can change");
  ImGui::SameLine();
  if (ImGui::Button("Copy its path")) copy(preset.path);
  tooltip("To hand its file to another program");
  if (preset.own) {
    ImGui::SameLine();
    const bool changed = !title_.empty() && (title_ != preset.name || note_ != preset.note);
    ImGui::BeginDisabled(!changed);
    if (ImGui::Button("Keep title and note###keep")) context.session.describe_preset(preset.path, title_, note_);
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (ImGui::Button("Delete")) {
      context.session.delete_preset(preset.path);
      managed_.clear();
    }
    tooltip("Moves its file into the folder \"deleted\" beside it.");
  }
  ImGui::SameLine();
}

}  // namespace attnscope::ui
