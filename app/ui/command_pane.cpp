#include "ui/command_pane.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "platform/paths.h"
#include "ui/icons.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

struct Words {
  const char *title, *sentence;
};

Words words_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::run:
      return {"Run this config", "Runs this config in a terminal."};
    case CommandKind::export_config:
      return {"Export this config",
              "Writes the kernel with these knobs as standalone files: .cu, nvcc line, cubin, "
              "PTX and launchers in C++ and Python."};
    case CommandKind::best:
      return {"Find the best config", "Lists the best configs that are known for this kernel, problem and device."};
    case CommandKind::bench:
      return {"Bench this config", "Times this config in turn with its peers, until the intervals are narrow."};
  }
  return {"", ""};
}

}  // namespace

void CommandPane::open(CommandKind kind) {
  kind_ = kind;
  open_ = opens_ = true;
  refusal_.clear();
  if (out_.empty())
    if (const std::string home = platform::environment("HOME"); !home.empty())
      out_ = (std::filesystem::path(home) / "attnscope-export").string();
}

void CommandPane::draw(Context& context) {
  if (!open_) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const Words words = words_of(kind_);
  ImGui::SetNextWindowPos(viewport->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(em(46), viewport->WorkSize.x * 0.95f), 0});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, viewport->WorkSize.y * 0.9f});
  if (std::exchange(opens_, false)) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
  if (ImGui::Begin(fmt::format("{}###Command", words.title).c_str(), &open_,
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse |
                       ImGuiWindowFlags_NoResize)) {
    wrapped(words.sentence, palette().dim);
    if (kind_ == CommandKind::export_config) {
      dim_text("folder");
      ImGui::SetNextItemWidth(-FLT_MIN);
      ImGui::InputText("##out", &out_);
    }
    const Draft& draft = context.draft.current();
    const session::Snapshot& snapshot = context.snapshot;
    const CommandLine line = command_line(kind_, draft, session::find_kernel(snapshot, draft.kernel),
                                          snapshot.preset_modified ? std::string() : snapshot.preset_path, out_);
    std::vector<std::string> typed{"attnscope"};
    typed.insert(typed.end(), line.arguments.begin(), line.arguments.end());
    shown_line_ = shell_text(typed);
    ImGui::PushFont(fonts().mono, 0);
    wrapped(shown_line_, palette().text);
    ImGui::PopFont();
    draw_run(line);
    draw_output();
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

void CommandPane::draw_run(const CommandLine& line) {
  if (ImGui::Button("Copy")) copy(shown_line_);
  ImGui::SameLine();
  const std::string why_not = program_.empty() ? "The program's file is unknown: copy the line."
                              : running()      ? "A command is already running."
                                               : line.refusal;
  ImGui::BeginDisabled(!why_not.empty());
  const bool run = ImGui::Button(ICON_PLAY "  Run in the background###run");
  ImGui::EndDisabled();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) && !why_not.empty())
    ImGui::SetTooltip("%s", why_not.c_str());
  if (running()) {
    ImGui::SameLine();
    if (ImGui::Button(ICON_STOP "  Cancel###cancel")) tool_->cancel();
  }
  if (!line.refusal.empty()) wrapped(ICON_WARNING "  " + line.refusal, palette().warn, kSmallSize);
  if (!refusal_.empty()) wrapped(ICON_WARNING "  " + refusal_, palette().bad, kSmallSize);
  if (!run) return;
  std::vector<std::string> argv{program_};
  argv.insert(argv.end(), line.arguments.begin(), line.arguments.end());
  run_line_ = shown_line_;
  refusal_.clear();
  auto started = platform::BackgroundTool::start(argv, wake_);
  if (started)
    tool_ = std::move(*started);
  else
    refusal_ = started.error().message + ". " + started.error().hint;
}

void CommandPane::draw_output() const {
  if (!tool_) return;
  const std::optional<int> code = tool_->exit_code();
  const std::string output = tool_->output();
  ImGui::Dummy({0, em(0.2f)});
  if (!code)
    wrapped(ICON_NOTCH "  running: " + run_line_, palette().accent, kSmallSize);
  else if (*code == 0)
    wrapped(ICON_CHECK "  done: " + run_line_, palette().good, kSmallSize);
  else
    wrapped(fmt::format(ICON_WARNING "  ended with status {}: {}", *code, run_line_), palette().bad, kSmallSize);
  if (output.empty()) return;
  const auto lines =
      static_cast<float>(std::min<std::ptrdiff_t>(std::count(output.begin(), output.end(), '\n') + 1, 16));
  ImGui::PushFont(fonts().mono, kSmallSize);
  if (ImGui::BeginChild("output", {0, (lines + 1.5f) * ImGui::GetTextLineHeightWithSpacing()}, ImGuiChildFlags_Borders,
                        ImGuiWindowFlags_HorizontalScrollbar)) {
    text(output);
    if (!code) ImGui::SetScrollHereY(1);
  }
  ImGui::EndChild();
  ImGui::PopFont();
}

}  // namespace attnscope::ui
