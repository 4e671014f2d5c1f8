#include "ui/folder_browser.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "ui/icons.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr size_t kMostEntries = 5000;

}  // namespace

void FolderBrowser::go(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(folder, error);
  std::vector<Entry> found;
  std::filesystem::directory_iterator it;
  if (!error) it = std::filesystem::directory_iterator(whole, error);
  for (const std::filesystem::directory_iterator end; !error && it != end && found.size() < kMostEntries;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code unknown;
    const bool is_folder = it->is_directory(unknown);
    if (!name.starts_with('.') && (is_folder || it->path().extension() == ".json")) found.push_back({name, is_folder});
  }
  if (error) {
    trouble_ = folder.string() + " cannot be read: " + error.message();
    return;
  }
  std::sort(found.begin(), found.end(),
            [](const Entry& a, const Entry& b) { return std::pair(!a.folder, a.name) < std::pair(!b.folder, b.name); });
  folder_ = whole;
  entries_ = std::move(found);
  chosen_.clear();
  trouble_.clear();
}

bool FolderBrowser::draw(float height) {
  bool opened = false;
  std::filesystem::path next;
  const bool top = !folder_.has_relative_path();
  ImGui::BeginDisabled(top);
  if (ImGui::Button("Up###up")) next = folder_.parent_path();
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  clipped(folder_.string(), ImGui::GetContentRegionAvail().x, palette().dim);
  if (ImGui::BeginChild("entries", {0, height}, ImGuiChildFlags_Borders)) {
    for (const Entry& entry : entries_) {
      const std::string label = (entry.folder ? ICON_FOLDER "  " : ICON_TABLE "  ") + entry.name + "###" + entry.name;
      if (!ImGui::Selectable(label.c_str(), chosen_ == entry.name,
                             ImGuiSelectableFlags_AllowDoubleClick | ImGuiSelectableFlags_NoAutoClosePopups))
        continue;
      if (entry.folder) {
        next = folder_ / entry.name;
      } else {
        chosen_ = entry.name;
        opened = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
      }
    }
    if (entries_.empty()) dim_text("No folder and no .json file is here.");
  }
  ImGui::EndChild();
  if (!trouble_.empty()) wrapped(ICON_WARNING "  " + trouble_, palette().warn, kSmallSize);
  if (!next.empty()) go(next);
  return opened;
}

}  // namespace attnscope::ui
