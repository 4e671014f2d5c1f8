#pragma once
#include <optional>

namespace attnscope::platform {

// Forks this process. The child gets an empty result and continues with the caller's work. The parent becomes its
// keeper and closes stdin and stdout. It returns when the child and every process that the child left behind have
// ended, in any session, with the child's exit status for main() to return. If a signal ended the child, the same
// signal ends the keeper.
//
// The keeper passes SIGTERM, SIGINT and SIGHUP on to the child. If the keeper is killed, its child gets SIGTERM, so
// that one of the two always ends what is left, unless both are killed at once. Call it while the process has one
// thread. If the system refuses to fork, the caller continues without a keeper.
std::optional<int> work_under_keeper();

}  // namespace attnscope::platform
