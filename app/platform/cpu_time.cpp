#include "platform/cpu_time.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

namespace attnscope::platform {
namespace {

bool read_schedstat(const std::string& path, CpuTime& time) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[128] = {};
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  long long ran = 0, waited = 0;
  if (size <= 0 || std::sscanf(text, "%lld %lld", &ran, &waited) != 2) return false;
  time.ran_ns += ran;
  time.waited_ns += waited;
  return true;
}

}  // namespace

std::optional<CpuTime> cpu_time_of(pid_t pid) {
  CpuTime time;
  bool any = false;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error))
    any |= read_schedstat(at->path().string() + "/schedstat", time);
  return any ? std::optional(time) : std::nullopt;
}

double own_share(int64_t elapsed_ns, const CpuTime& spent, int processors) {
  if (elapsed_ns <= 0) return 1;
  const auto elapsed = static_cast<double>(elapsed_ns);
  const auto ran = static_cast<double>(std::max<int64_t>(spent.ran_ns, 0));
  const auto waited = static_cast<double>(std::max<int64_t>(spent.waited_ns, 0));
  const double wanted = (ran + waited) / elapsed;  // average number of threads able to run
  // Below 1, it slept the rest of the time. Above 1, it could run on at most `processors`.
  const double share =
      wanted <= 1 ? 1 - waited / elapsed : ran / elapsed / std::min<double>(wanted, std::max(1, processors));
  return std::clamp(share, 0.0, 1.0);
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace attnscope::platform
