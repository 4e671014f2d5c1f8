#include <imgui.h>
#include <imgui_stdlib.h>
#include <string>
#include <vector>

#include "charts/format.h"
#include "ui/found_words.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

class LogPanel : public Panel {
 public:
  const char* title() const override { return "Log"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  std::string filter_;
  bool follow_ = true;
  const void* filtered_of_ = nullptr;  // the log that lines_ index
  std::string filtered_by_;
  std::vector<int> lines_;
};

}  // namespace

void LogPanel::draw(Context& context) {
  const auto log = context.snapshot.log;
  if (!log || log->empty())
    return empty_state(ICON_LIST, "The log is empty", "What the workers and the session do is written here.");
  ImGui::SetNextItemWidth(em(16));
  ImGui::InputTextWithHint("##filter", ICON_SEARCH "  filter", &filter_);
  ImGui::SameLine();
  ImGui::Checkbox("follow", &follow_);
  ImGui::SameLine();
  if (ImGui::Button("copy")) {
    std::string all;
    for (const session::LogLine& line : *log) all += charts::clock_text(line.at) + " " + line.text + "\n";
    copy(all);
  }
  if (filtered_of_ != log.get() || filtered_by_ != filter_) {
    filtered_of_ = log.get();
    filtered_by_ = filter_;
    lines_.clear();
    for (size_t at = 0; at < log->size(); ++at)
      if (holds_words((*log)[at].text, filter_)) lines_.push_back(static_cast<int>(at));
  }
  if (ImGui::BeginChild("lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    ImGui::PushFont(fonts().mono, kSmallSize);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines_.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at) {
        const session::LogLine& line = (*log)[static_cast<size_t>(lines_[static_cast<size_t>(at)])];
        const Palette& p = palette();
        ImGui::PushStyleColor(ImGuiCol_Text, p.faint);
        text(charts::clock_text(line.at));
        ImGui::PopStyleColor();
        ImGui::SameLine();
        const bool error = line.level == session::LogLevel::error, warning = line.level == session::LogLevel::warning;
        ImGui::PushStyleColor(ImGuiCol_Text, error ? p.bad : warning ? p.warn : p.text);
        text((error ? "error: " : warning ? "warning: " : "") + line.text.substr(0, line.text.find('\n')));
        ImGui::PopStyleColor();
        if (line.text.find('\n') != std::string::npos) tooltip(line.text);
      }
    ImGui::PopFont();
    if (follow_ && ImGui::GetScrollY() < ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1.0f);
  }
  ImGui::EndChild();
}

std::unique_ptr<Panel> make_log_panel(const std::filesystem::path&) { return std::make_unique<LogPanel>(); }

}  // namespace attnscope::ui
