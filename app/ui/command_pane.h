#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "platform/background_tool.h"
#include "ui/command_lines.h"
#include "ui/context.h"
#include "ui/tool_output.h"

namespace attnscope::ui {

// Export, best, bench and import from the window: the exact command line, to copy or to run in the background with this
// program. Closing the pane does not stop a run: the status bar shows it, and opening the pane again shows its output.
class CommandPane {
 public:
  // `program` is attnscope's own file; empty: nothing can be run. `wake` requests a frame from any thread.
  CommandPane(std::string program, std::function<void()> wake) : program_(std::move(program)), wake_(std::move(wake)) {}

  void open(CommandKind kind);
  void open_import(const std::string& file);  // a .cu file
  void show() { open_ = opens_ = true; }      // the last command's pane again
  bool is_open() const { return open_; }
  void close() { open_ = false; }
  void draw(Context& context);
  bool running() const { return tool_ && !tool_->exit_code(); }
  // True if the pane was closed before the last command ended, and not opened since.
  bool has_news() const { return tool_ && !running() && !seen_end_; }
  void cancel() { tool_->cancel(); }
  // "bench: mma, 3 of 12, 40 s left", "bench: done". Call only after a command was started.
  std::string state_words() const;
  // The last run's process; null if none was started. For tests.
  const platform::BackgroundTool* tool() const { return tool_.get(); }
  const std::string& shown_line() const { return shown_line_; }

 private:
  CommandLine draw_fields(const Context& context);
  bool draw_run(const CommandLine& line);
  void note_kernels(const session::Snapshot& snapshot);
  void draw_output(Context& context) const;
  void draw_imported(Context& context) const;
  const ToolOutput& said() const;

  std::string program_;
  std::function<void()> wake_;
  CommandKind kind_ = CommandKind::export_config;
  bool open_ = false, opens_ = false;
  std::string out_, file_, shown_line_, run_line_, refusal_;
  std::string name_;       // of the command that runs or ran last: "bench"
  double started_ms_ = 0;  // platform::steady_ms()
  bool seen_end_ = true;
  bool reloads_ = false;           // the kernels are to be read again when it has ended
  std::set<std::string> known_;    // ids of the kernels before an import
  mutable size_t said_bytes_ = 0;  // of the output in said_
  mutable ToolOutput said_;
  std::unique_ptr<platform::BackgroundTool> tool_;
};

}  // namespace attnscope::ui
