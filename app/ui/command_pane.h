#pragma once
#include <functional>
#include <memory>
#include <string>

#include "platform/background_tool.h"
#include "ui/command_lines.h"
#include "ui/context.h"

namespace attnscope::ui {

// Export, best and bench from the window: the exact command line for the current experiment, to copy or to run in the
// background with this program. Closing the pane does not stop a run; opening it again shows the run.
class CommandPane {
 public:
  // `program` is attnscope's own file; empty: nothing can be run. `wake` requests a frame from any thread.
  CommandPane(std::string program, std::function<void()> wake) : program_(std::move(program)), wake_(std::move(wake)) {}

  void open(CommandKind kind);
  bool is_open() const { return open_; }
  void close() { open_ = false; }
  void draw(Context& context);
  bool running() const { return tool_ && !tool_->exit_code(); }
  // The last run's process; null if none was started. For tests.
  const platform::BackgroundTool* tool() const { return tool_.get(); }
  const std::string& shown_line() const { return shown_line_; }

 private:
  void draw_run(const CommandLine& line);
  void draw_output() const;

  std::string program_;
  std::function<void()> wake_;
  CommandKind kind_ = CommandKind::export_config;
  bool open_ = false, opens_ = false;
  std::string out_, shown_line_, run_line_, refusal_;
  std::unique_ptr<platform::BackgroundTool> tool_;
};

}  // namespace attnscope::ui
