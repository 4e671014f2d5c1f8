#pragma once
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program whose stdin and stdout are pipes of ours and whose stderr is our stderr.
struct ChildProcess {
  pid_t pid = -1;
  int stdin_fd = -1;   // we write; owned by the caller
  int stdout_fd = -1;  // we read; owned by the caller
};

// Starts argv[0] (looked up in PATH) in a process group of its own, so that end_group() reaches what it starts too.
// A program that cannot be started is a Failure (Stage::device) that names it.
Result<ChildProcess> spawn_piped(const std::vector<std::string>& argv);

// SIGKILL to the process group that `leader` leads. A group that is gone already is no fault.
void end_group(pid_t leader);

// Asks the kernel to end this process when its parent ends, whatever way the parent goes. Returns false when the parent
// has gone already (the caller then leaves): `parent` is the pid that the caller took for its parent.
bool die_with_parent(pid_t parent);

// From now on a process below this one whose parent ends becomes a child of this one, whatever session it made for
// itself: end_strays() finds it there.
void adopt_orphans();
// SIGKILL to the children of this process but `own`, which are reaped. What they leave becomes ours in turn: call it
// again until it returns 0, the number of those that were found.
size_t end_strays(std::span<const pid_t> own);

// A signal that asks this process to leave and that its parent did not have ignored: SIGTERM, SIGINT, SIGHUP.
std::vector<int> leaving_signals();
// Ends this process by that signal, as if it had not been caught: the parent sees how it ended.
[[noreturn]] void leave_by(int signal);

// A peer that goes away and a file that reaches its size limit (ulimit -f) must show as errors of write(), never as
// signals that end us.
void ignore_write_signals();

// The calling thread gives way to threads of a lower nice value: at 19, the default, to everything else on the machine.
// Cannot be undone without privileges.
void lower_thread_priority(int nice = 19);

// The Failure (Stage::limits) where the system refuses a thread. `what` needed it: "the compiler".
Failure no_thread(const std::string& what);

}  // namespace attnscope::platform
