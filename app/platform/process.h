#pragma once
#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program with our pipes as stdin and stdout, and our stderr as its stderr.
struct ChildProcess {
  pid_t pid = -1;
  int stdin_fd = -1;   // we write; owned by the caller
  int stdout_fd = -1;  // we read; owned by the caller
};

// Starts argv[0] (looked up in PATH) in a new process group, so that end_group() also ends what it starts. A program
// that cannot be started is a Failure (Stage::device) that names it.
Result<ChildProcess> spawn_piped(const std::vector<std::string>& argv);

// Sends SIGKILL to the process group that `leader` leads. It may already be gone.
void end_group(pid_t leader);

// Asks the kernel to end this process when its parent ends, in any way. Returns false when the parent has already ended
// (the caller then leaves). `parent` is the pid that the caller took for its parent.
bool die_with_parent(pid_t parent);

// From now on, a process below this one whose parent ends becomes a child of this one, whatever its session:
// end_strays() finds it there.
void adopt_orphans();
// The children of a process, as /proc (or the folder that stands for it) lists them.
std::vector<pid_t> children_of(pid_t parent, const std::filesystem::path& proc = "/proc");
// Sends SIGKILL to all children of this process except `own`, and reaps them. Their children become ours in turn: call
// it again until it returns 0, the number of processes found.
size_t end_strays(std::span<const pid_t> own);

// The signals that ask this process to leave and that its parent did not have ignored, of SIGTERM, SIGINT and SIGHUP.
std::vector<int> leaving_signals();
// Ends this process by that signal as if it had not been caught, so that the parent sees how it ended.
[[noreturn]] void leave_by(int signal);

// A peer that goes away and a file that reaches its size limit (ulimit -f) show as errors of write(), and never as
// signals that end us.
void ignore_write_signals();

// The calling thread gives way to threads with a lower nice value: at 19, the default, to everything else on the
// machine. Undoing it needs privileges.
void lower_thread_priority(int nice = 19);

// The Failure (Stage::limits) for a refused thread. `what` needed it: "the compiler".
Failure no_thread(const std::string& what);

}  // namespace attnscope::platform
