#include "ui/command_pane.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "charts/format.h"
#include "platform/clock.h"
#include "platform/paths.h"
#include "ui/icons.h"
#include "ui/panels/experiment_panel.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

struct KindWords {
  const char *title, *sentence;
};

KindWords words_of(CommandKind kind) {
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
    case CommandKind::import_file:
      return {"Import a kernel",
              "Writes a first manifest for a .cu file that was written for nvcc, beside a copy of it in your folder of "
              "kernels, and says what it read, tried out and guessed."};
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

void CommandPane::open_import(const std::string& file) {
  file_ = file;
  open(CommandKind::import_file);
}

CommandLine CommandPane::draw_fields(const Context& context) {
  const session::Snapshot& snapshot = context.snapshot;
  const auto field = [](const char* label, const char* id, const char* hint, std::string& text) {
    dim_text(label);
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputTextWithHint(id, hint, &text);
  };
  if (kind_ == CommandKind::import_file) {
    field("file", "##file", "a .cu file's path, or drop the file here", file_);
    return import_line(file_, snapshot.own_kernels_dir);
  }
  if (kind_ == CommandKind::export_config) field("folder", "##out", "", out_);
  const Draft& draft = context.draft.current();
  return command_line(kind_, draft, session::find_kernel(snapshot, draft.kernel),
                      snapshot.preset_modified ? std::string() : snapshot.preset_path, out_,
                      session::worker_of(snapshot, draft.device));
}

const ToolOutput& CommandPane::said() const {
  const std::string output = tool_->output();
  if (output.size() != said_bytes_) {
    said_bytes_ = output.size();
    said_ = read_notes(output);
  }
  return said_;
}

std::string CommandPane::state_words() const {
  if (const std::optional<int> code = tool_->exit_code())
    return name_ + (*code == 0 ? ": done" : fmt::format(": ended with status {}", *code));
  const ToolOutput& now = said();
  std::string words = name_ + ": " + (now.progress.empty() ? "running" : now.progress);
  const double seconds = (platform::steady_ms() - started_ms_) / 1000;
  if (now.of > 0 && now.done > 0 && now.done < now.of)
    words += ", " + charts::left_text(seconds * double(now.of - now.done) / double(now.done));
  return words;
}

void CommandPane::draw(Context& context) {
  if (reloads_ && !running()) {
    reloads_ = false;
    if (tool_->exit_code() == 0) context.session.reload_kernels();
  }
  if (!open_) return;
  if (!running()) seen_end_ = true;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const KindWords words = words_of(kind_);
  ImGui::SetNextWindowPos(viewport->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(em(46), viewport->WorkSize.x * 0.95f), 0});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, viewport->WorkSize.y * 0.9f});
  if (std::exchange(opens_, false)) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
  if (ImGui::Begin(fmt::format("{}###Command", words.title).c_str(), &open_,
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse |
                       ImGuiWindowFlags_NoResize)) {
    wrapped(words.sentence, palette().dim);
    const CommandLine line = draw_fields(context);
    std::vector<std::string> typed{"attnscope"};
    typed.insert(typed.end(), line.arguments.begin(), line.arguments.end());
    shown_line_ = shell_text(typed);
    ImGui::PushFont(fonts().mono, 0);
    wrapped(shown_line_, palette().text);
    ImGui::PopFont();
    if (draw_run(line)) note_kernels(context.snapshot);
    draw_output(context);
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

// Returns true if a command was started.
bool CommandPane::draw_run(const CommandLine& line) {
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
  if (!run) return false;
  std::vector<std::string> argv{"/usr/bin/env", "ATTNSCOPE_NOTES=json", program_};
  argv.insert(argv.end(), line.arguments.begin(), line.arguments.end());
  run_line_ = shown_line_;
  refusal_.clear();
  auto started = platform::BackgroundTool::start(argv, wake_);
  if (!started) {
    refusal_ = started.error().message + ". " + started.error().hint;
    return false;
  }
  tool_ = std::move(*started);
  name_ = line.arguments.front();
  started_ms_ = platform::steady_ms();
  said_bytes_ = 0;
  said_ = {};
  seen_end_ = false;
  reloads_ = kind_ == CommandKind::import_file;
  return true;
}

void CommandPane::note_kernels(const session::Snapshot& snapshot) {
  known_.clear();
  for (const Kernel& kernel : *snapshot.kernels) known_.insert(kernel.id);
}

// The kernels that an import added, each with a button that makes it the experiment's.
void CommandPane::draw_imported(Context& context) const {
  if (name_ != "import" || tool_->exit_code() != 0) return;
  for (const Kernel& kernel : *context.snapshot.kernels) {
    if (known_.contains(kernel.id)) continue;
    if (ImGui::Button(("Choose " + kernel.id + "###choose").c_str())) ExperimentPanel::choose(context, kernel.id);
  }
}

void CommandPane::draw_output(Context& context) const {
  if (!tool_) return;
  const std::optional<int> code = tool_->exit_code();
  const std::string& output = said().text;
  ImGui::Dummy({0, em(0.2f)});
  if (!code)
    wrapped(ICON_NOTCH "  running: " + run_line_ + (said_.progress.empty() ? "" : "\n" + state_words()),
            palette().accent, kSmallSize);
  else if (*code == 0)
    wrapped(ICON_CHECK "  done: " + run_line_, palette().good, kSmallSize);
  else
    wrapped(fmt::format(ICON_WARNING "  ended with status {}: {}", *code, run_line_), palette().bad, kSmallSize);
  draw_imported(context);
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
