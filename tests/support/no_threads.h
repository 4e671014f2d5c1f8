#pragma once
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <thread>

namespace attnscope::testing_support {

// From this call on the system refuses every further thread to this process. Call it in a separate process (a death
// test in the style "threadsafe": a forked process has lost the threads of its pools). Root gives up its rights,
// because the limit does not bind root.
inline void refuse_threads() {
  constexpr unsigned kNoRights = 65534;
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNoRights) != 0 || setuid(kNoRights) != 0)) _exit(254);
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(254);
}

// Whether the system enforces the limit: some containers ignore it.
inline bool threads_can_be_refused() {
  const pid_t child = fork();
  if (child == 0) {
    refuse_threads();
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace attnscope::testing_support
