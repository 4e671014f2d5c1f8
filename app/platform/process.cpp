#include "platform/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace attnscope::platform {
namespace {

// Both ends of a pipe, closed unless taken.
struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  int take(int end) { return std::exchange(ends[end], -1); }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
};

}  // namespace

Result<ChildProcess> spawn_piped(const std::vector<std::string>& argv) {
  Pipe in, out;
  if (argv.empty()) return fail(Stage::device, "an empty command cannot be started", "Name the program.");
  if (!in.open() || !out.open())
    return fail(Stage::device, argv[0] + ": no pipe: " + std::strerror(errno),
                "Close other programs, or raise `ulimit -n`.");
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  ChildProcess child;
  const int error = posix_spawnp(&child.pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error)
    return fail(Stage::device, argv[0] + " cannot be started: " + std::strerror(error),
                "Check the command's first word.");
  child.stdin_fd = in.take(1);
  child.stdout_fd = out.take(0);
  return child;
}

void end_group(pid_t leader) {
  if (leader > 1) kill(-leader, SIGKILL);
}

bool die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;  // asked after the request: a parent that went before it would go unnoticed otherwise
}

void ignore_write_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void lower_thread_priority(int nice) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread, nice);  // Linux: nice values belong to threads
  sched_param none{};
  sched_setscheduler(static_cast<pid_t>(thread), SCHED_BATCH, &none);
}

}  // namespace attnscope::platform
