#include "platform/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "platform/descriptor.h"
#include "platform/spawn_attributes.h"

extern char** environ;

namespace attnscope::platform {
namespace {

// The parent's pid in /proc/PID/stat. The process name before it may contain anything.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string stat;
  std::getline(file, stat, '\0');  // a stream buffer's iterator throws if the process ends between open and read
  const size_t after = stat.rfind(") ");
  return after == std::string::npos || stat.size() < after + 5 ? -1 : std::atoi(stat.c_str() + after + 4);
}

}  // namespace

Result<ChildProcess> spawn_piped(const std::vector<std::string>& argv) {
  if (argv.empty()) return fail(Stage::device, "an empty command cannot be started", "Name the program.");
  auto in = make_pipe(), out = make_pipe();
  if (!in || !out) return fail(Stage::device, argv[0] + ": no pipe: " + std::strerror(errno), kNoDescriptorHint);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in->read.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out->write.get(), 1);
  const SpawnAttributes attributes(ProcessGroup::own);
  ChildProcess child;
  const int error = posix_spawnp(&child.pid, words[0], &actions, attributes.get(), words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return fail(Stage::device, argv[0] + " cannot be started: " + std::strerror(error),
                "Check the command's first word.");
  child.stdin_fd = in->write.release();
  child.stdout_fd = out->read.release();
  return child;
}

void end_group(pid_t leader) {
  if (leader > 1) kill(-leader, SIGKILL);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> children_of(pid_t parent, const std::filesystem::path& proc) {
  namespace fs = std::filesystem;
  std::vector<pid_t> children;
  std::error_code error;
  bool told = false;  // the kernel lists them itself, which not all kernels do
  for (fs::directory_iterator at(proc / std::to_string(parent) / "task", error), end; !error && at != end;
       at.increment(error)) {
    std::ifstream file(at->path() / "children");
    told = told || file.is_open();
    for (pid_t child; file >> child;) children.push_back(child);
  }
  if (told) return children;
  for (fs::directory_iterator at(proc, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos && parent_of(at->path()) == parent)
      children.push_back(std::atoi(name.c_str()));
  }
  return children;
}

size_t end_strays(std::span<const pid_t> own) {
  size_t found = 0;
  for (const pid_t child : children_of(getpid())) {
    if (std::find(own.begin(), own.end(), child) != own.end()) continue;
    ++found;
    kill(child, SIGKILL);  // not reaped yet, so the pid is still its own
    waitpid(child, nullptr, WNOHANG);
  }
  return found;
}

std::vector<int> leaving_signals() {
  std::vector<int> signals;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) signals.push_back(number);
  }
  return signals;
}

void leave_by(int number) {
  signal(number, SIG_DFL);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, number);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);
  raise(number);
  _exit(128 + number);
}

bool die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;  // checked after the request, because a parent that ended before it would go unnoticed
}

void ignore_write_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void lower_thread_priority(int nice) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread, nice);  // on Linux, nice values belong to threads
  sched_param none{};
  sched_setscheduler(static_cast<pid_t>(thread), SCHED_BATCH, &none);
}

Failure no_thread(const std::string& what) {
  return {Stage::limits, "the system refuses a thread for " + what,
          "End other programs, or raise the limit on processes (ulimit -u, or the container's)."};
}

}  // namespace attnscope::platform
