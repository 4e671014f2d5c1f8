#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace attnscope::platform {

// What the threads of a process that are alive now have done since they began.
struct CpuTime {
  int64_t ran_ns = 0;     // on a processor
  int64_t waited_ns = 0;  // ready to run, but no processor was free
};

// From /proc/PID/task/*/schedstat ("Scheduler Statistics" in Linux's documentation). Empty when the process is gone or
// the system keeps no such figures.
std::optional<CpuTime> cpu_time_of(pid_t pid);

// The share of `elapsed_ns` that a process is responsible for, 0 to 1: 1 when it ran as much as it wanted or slept by
// itself, less when other processes held the processors. `spent` is what its threads did in that time, `processors` how
// many it may use. If it has more threads than that, they take turns, and that counts as its own time.
double own_share(int64_t elapsed_ns, const CpuTime& spent, int processors);

// The processors that the calling process may use.
int usable_processors();

}  // namespace attnscope::platform
