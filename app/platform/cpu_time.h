#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace attnscope::platform {

// What a process's threads, those alive now, have done since they began.
struct CpuTime {
  int64_t ran_ns = 0;     // on a processor
  int64_t waited_ns = 0;  // able to run, and none was free
};

// From /proc/PID/task/*/schedstat ("Scheduler Statistics" in Linux's documentation). Empty when the process is gone or
// the system keeps no such figures.
std::optional<CpuTime> cpu_time_of(pid_t pid);

// How much of `elapsed_ns` a process may be held to account for, 0 to 1: all of it when it ran as much as it wanted or
// slept of its own accord, less when others held the processors. `spent` is what its threads did in that time and
// `processors` what it may use: more threads of its own than these take turns, which is nobody else's doing.
double own_share(int64_t elapsed_ns, const CpuTime& spent, int processors);

// The processors that the calling process may use.
int usable_processors();

}  // namespace attnscope::platform
