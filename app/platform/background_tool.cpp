#include "platform/background_tool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/process.h"

namespace attnscope::platform {
namespace {

constexpr size_t kMostOutput = 256 << 10;
constexpr int kSignalled = 128;

}  // namespace

Result<std::unique_ptr<BackgroundTool>> BackgroundTool::start(const std::vector<std::string>& argv,
                                                              std::function<void()> on_change) {
  // The shell merges the two streams and then becomes the program. It does not parse `argv`.
  std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
  words.insert(words.end(), argv.begin(), argv.end());
  auto child = spawn_piped(words);
  if (!child) return fail(child.error());
  close(child->stdin_fd);
  std::unique_ptr<BackgroundTool> tool(new BackgroundTool());
  tool->pid_ = child->pid;
  tool->out_fd_ = child->stdout_fd;
  tool->on_change_ = std::move(on_change);
  tool->reader_ = std::thread([raw = tool.get()] { raw->read_to_the_end(); });
  return tool;
}

void BackgroundTool::read_to_the_end() {
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(out_fd_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    {
      const std::lock_guard lock(mutex_);
      output_.append(bytes, static_cast<size_t>(got));
      if (output_.size() > kMostOutput) output_.erase(0, output_.size() - kMostOutput / 2);
    }
    on_change_();
  }
  close(out_fd_);
  // Waits first and reaps later: until it is reaped, the pid is still ours, and cancel() may signal the group.
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  }
  on_change_();
}

BackgroundTool::~BackgroundTool() {
  cancel();
  if (reader_.joinable()) reader_.join();
}

void BackgroundTool::cancel() {
  const std::lock_guard lock(mutex_);
  if (!exit_code_) end_group(pid_);
}

std::string BackgroundTool::output() const {
  const std::lock_guard lock(mutex_);
  return output_;
}

std::optional<int> BackgroundTool::exit_code() const {
  const std::lock_guard lock(mutex_);
  return exit_code_;
}

}  // namespace attnscope::platform
