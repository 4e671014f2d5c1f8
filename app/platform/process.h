#pragma once
#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program with pipes to us as stdin and stdout, and our stderr.
struct ChildProcess {
  pid_t pid = -1;
  int stdin_fd = -1;   // we write to it; owned by the caller
  int stdout_fd = -1;  // we read from it; owned by the caller
};

// Starts argv[0] (looked up in PATH) in a new process group, so that end_group() also ends its children. A program that
// cannot be started is a Failure (Stage::device) that names it.
Result<ChildProcess> spawn_piped(const std::vector<std::string>& argv);

// Sends SIGKILL to the process group with that leader, which may already be gone.
void end_group(pid_t leader);

// Asks the kernel to end this process when its parent ends for any reason. Returns false if the parent has already
// ended; the caller should then exit. `parent` is the parent's pid as the caller knows it.
bool die_with_parent(pid_t parent);

// From now on, a descendant of this process whose parent ends becomes a child of this one, in any session, so that
// end_strays() finds it.
void adopt_orphans();
// The children of a process, as /proc (or the folder that stands for it) lists them.
std::vector<pid_t> children_of(pid_t parent, const std::filesystem::path& proc = "/proc");
// Sends SIGKILL to all children of this process except `own`, and reaps them. Their children become ours in turn: call
// it again until it returns 0, the number of processes found.
size_t end_strays(std::span<const pid_t> own);

// The signals among SIGTERM, SIGINT and SIGHUP that ask this process to exit, without those that its parent had set to
// be ignored.
std::vector<int> leaving_signals();
// Ends this process by that signal as if it had not been caught, so that the parent sees the reason.
[[noreturn]] void leave_by(int signal);

// From now on, a closed peer and a file at its size limit (ulimit -f) cause errors of write() instead of signals that
// end the process.
void ignore_write_signals();

// Lowers the priority of the calling thread to `nice`; at 19, the default, everything else on the machine comes first.
// Undoing it needs privileges.
void lower_thread_priority(int nice = 19);

// The Failure (Stage::limits) for a thread that the system refused. `what` needed it: "the compiler".
Failure no_thread(const std::string& what);

}  // namespace attnscope::platform
