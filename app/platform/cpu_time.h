#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace attnscope::platform {

// The CPU time of a process's living threads since they began.
struct CpuTime {
  int64_t ran_ns = 0;     // running on a processor
  int64_t waited_ns = 0;  // ready to run, with no processor free
};

// From /proc/PID/task/*/schedstat ("Scheduler Statistics" in Linux's documentation). Empty if the process is gone or
// the system keeps no such figures.
std::optional<CpuTime> cpu_time_of(pid_t pid);

// The share of `elapsed_ns` that a process is responsible for, 0 to 1. It is 1 if the process ran as much as it wanted
// or slept by itself, less if other processes held the processors. `spent` is the CPU time of its threads in that
// period, `processors` how many it may use. If it has more threads than processors, they take turns, and their waiting
// counts as its own time.
double own_share(int64_t elapsed_ns, const CpuTime& spent, int processors);

// The number of processors that the calling process may use.
int usable_processors();

}  // namespace attnscope::platform
