#include "ui/save_dialog.h"

#include <imgui_stdlib.h>

#include <utility>

#include "platform/output_file.h"
#include "platform/paths.h"
#include "ui/icons.h"
#include "ui/widgets/modal.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

void SaveDialog::open(const std::string& name, std::string bytes) {
  if (folder_.empty()) folder_ = platform::environment("HOME");
  path_ = (folder_ / name).string();
  bytes_ = std::move(bytes);
  refusal_.clear();
  opens_ = true;
}

void SaveDialog::draw(Context& context) {
  if (std::exchange(opens_, false)) ImGui::OpenPopup("Save");
  if (!begin_modal("Save", 44)) return;
  dim_text("file");
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool entered = ImGui::InputText("##file", &path_, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::filesystem::path file = path_;
  std::error_code unknown;
  const bool there = std::filesystem::exists(file, unknown);
  if (!refusal_.empty())
    wrapped(ICON_WARNING "  " + refusal_, palette().bad, kSmallSize);
  else
    small_text(there ? ICON_WARNING "  It exists and is replaced." : "", palette().warn);
  ImGui::BeginDisabled(path_.empty());
  const bool pressed = ImGui::Button(there ? "Replace###save" : "Save###save");
  ImGui::EndDisabled();
  if ((pressed || entered) && !path_.empty()) {
    if (const auto written = platform::write_output(file, bytes_); !written) {
      refusal_ = written.error().message + ". " + written.error().hint;
    } else {
      folder_ = file.parent_path();
      context.session.note(session::LogLevel::info, "wrote " + path_);
      ImGui::CloseCurrentPopup();
    }
  }
  ImGui::SameLine();
  end_modal("Cancel");
}

}  // namespace attnscope::ui
