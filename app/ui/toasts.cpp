#include "ui/toasts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ui/icons.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr double kForever = -1;
constexpr size_t kMostShown = 4;

double life_of(session::LogLevel level) {
  switch (level) {
    case session::LogLevel::info:
      return 5;
    case session::LogLevel::warning:
      return 12;
    case session::LogLevel::error:
      return kForever;
  }
  return kForever;
}

}  // namespace

void Toasts::draw(Context& context) {
  const auto& toasts = context.snapshot.toasts;
  std::erase_if(first_seen_, [&](const auto& seen) {
    return std::none_of(toasts.begin(), toasts.end(),
                        [&](const session::Toast& toast) { return toast.id == seen.first; });
  });
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  float bottom = viewport->WorkPos.y + viewport->WorkSize.y - em(0.8f);
  const float right = viewport->WorkPos.x + viewport->WorkSize.x - em(0.8f);
  size_t shown = 0;
  for (size_t at = toasts.size(); at-- > 0 && shown < kMostShown; ++shown) {
    const session::Toast& toast = toasts[at];
    const double since = ImGui::GetTime() - first_seen_.try_emplace(toast.id, ImGui::GetTime()).first->second;
    const double life = life_of(toast.level);
    if (life != kForever) {
      if (since >= life) {
        context.session.dismiss_toast(toast.id);
        continue;
      }
      context.wake_within(life - since + 0.01);
    }
    const Palette& p = palette();
    const bool error = toast.level == session::LogLevel::error, warning = toast.level == session::LogLevel::warning;
    const ImU32 colour = error ? p.bad : warning ? p.warn : p.accent;
    ImGui::SetNextWindowPos({right, bottom}, ImGuiCond_Always, {1, 1});
    ImGui::SetNextWindowSizeConstraints({em(18), 0}, {em(30), em(20)});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, mixed(p.panel, p.raised, 0.9f));
    ImGui::PushStyleColor(ImGuiCol_Border, with_alpha(colour, 0.7f));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    const std::string name = fmt::format("##toast {}", toast.id);
    if (ImGui::Begin(name.c_str(), nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                         ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking)) {
      ImGui::PushStyleColor(ImGuiCol_Text, colour);
      text(error ? ICON_TIMES_CIRCLE : warning ? ICON_WARNING : ICON_INFO);
      ImGui::PopStyleColor();
      ImGui::SameLine();
      ImGui::BeginGroup();
      ImGui::PushTextWrapPos(em(26));
      text(toast.text);
      if (!toast.hint.empty()) dim_text(toast.hint);
      ImGui::PopTextWrapPos();
      ImGui::EndGroup();
      ImGui::SameLine();
      if (ImGui::SmallButton(ICON_CLOSE "##dismiss")) context.session.dismiss_toast(toast.id);
      bottom = ImGui::GetWindowPos().y - em(0.5f);
    }
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(2);
  }
}

}  // namespace attnscope::ui
