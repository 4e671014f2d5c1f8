#include "platform/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/process.h"

namespace attnscope::platform {
namespace {

constexpr int kStrayLooks = 100;                  // a process that is ending is listed until it is gone
constexpr timespec kBetweenLooks{0, 20'000'000};  // 20 ms

// Closes stdin and stdout. The child ends when its streams close, which it would not see if the keeper held them too.
void let_go_of_streams() {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO})
    if (nowhere < 0 || dup2(nowhere, stream) < 0) close(stream);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

// Waits for `child` and returns its status as from waitpid(). Signals that ask the keeper to exit are passed on to the
// child.
int wait_for(pid_t child, const sigset_t& signals) {
  for (;;) {
    int ended = 0;
    for (pid_t one = 0; (one = waitpid(-1, &ended, WNOHANG)) > 0;)
      if (one == child) return ended;
    const int number = sigwaitinfo(&signals, nullptr);
    if (number > 0 && number != SIGCHLD) kill(child, number);
  }
}

}  // namespace

std::optional<int> work_under_keeper() {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int number : leaving_signals()) sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, &before);
  signal(SIGCHLD, SIG_DFL);  // a parent may have left it ignored, and the child's end would not be reported
  const pid_t keeper = getpid();
  const pid_t child = fork();
  if (child <= 0) {
    if (child == 0) {
      // SIGKILL if a parent left SIGTERM ignored, because SIGTERM then does nothing.
      prctl(PR_SET_PDEATHSIG, sigismember(&signals, SIGTERM) == 1 ? SIGTERM : SIGKILL);
      if (getppid() != keeper) _exit(128 + SIGTERM);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  adopt_orphans();
  let_go_of_streams();
  const int ended = wait_for(child, signals);
  for (int look = 0; look < kStrayLooks && end_strays({}) > 0; ++look) nanosleep(&kBetweenLooks, nullptr);
  if (WIFSIGNALED(ended)) leave_by(WTERMSIG(ended));
  return WEXITSTATUS(ended);
}

}  // namespace attnscope::platform
