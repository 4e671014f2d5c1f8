#pragma once
#include <optional>

namespace attnscope::platform {

// Splits this process in two. The child goes on with the caller's work: for it the answer is empty. The parent becomes
// its keeper and holds no end of stdin and stdout; it returns once the child has ended and with it everything that the
// child left, whatever session that made for itself: the child's exit status, to be returned from main. A child that a
// signal ended ends the keeper by the same one.
//
// SIGTERM, SIGINT and SIGHUP to the keeper go on to the child. A keeper that is killed asks its child to leave by
// SIGTERM, so that one of them always ends what is left, unless both are killed at once.
// Call it while the process has one thread. Where the system makes no process the caller goes on without a keeper.
std::optional<int> work_under_keeper();

}  // namespace attnscope::platform
