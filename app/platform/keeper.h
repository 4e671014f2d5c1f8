#pragma once
#include <optional>

namespace attnscope::platform {

// Splits this process in two. The child continues with the caller's work and gets an empty answer. The parent becomes
// its keeper and closes stdin and stdout. It returns once the child and every process that the child left have ended,
// in whatever session, with the child's exit status for main to return. If a signal ended the child, the same signal
// ends the keeper.
//
// The keeper passes SIGTERM, SIGINT and SIGHUP on to the child. A keeper that is killed sends its child SIGTERM, so one
// of them always ends what is left, unless both are killed at once.
// Call it while the process has one thread. If the system gives no process, the caller continues without a keeper.
std::optional<int> work_under_keeper();

}  // namespace attnscope::platform
