#pragma once
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace attnscope::testing_support {

// Runs `work` in a child that must respect file rights: as an unprivileged user when this process is root. During the
// call, `folder`, which is the test's own, has `rights`. `work` returns 0 or the number of the failed step, and must
// not use the test's assertions. Returns the same; 254 or 255 when the child could not be made or ended abnormally.
template <class Work>
int unprivileged(const std::filesystem::path& folder, std::filesystem::perms rights, Work work) {
  constexpr unsigned kNobody = 65534;
  const auto before = std::filesystem::status(folder).permissions();
  std::filesystem::permissions(folder, rights);
  const pid_t child = fork();
  if (child == 0) {
    const bool root = geteuid() == 0;
    if (root && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(254);
    _exit(work());
  }
  int status = 0;
  const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
  std::filesystem::permissions(folder, before);
  return ended ? WEXITSTATUS(status) : 255;
}

}  // namespace attnscope::testing_support
