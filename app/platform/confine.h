#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// How many families of sockets may be opened.
enum class Sockets {
  local,  // AF_UNIX only: the CUDA driver and its services speak through them
  none,
};

// What a confined thread may still do. Paths that are not there are passed over; a folder stands for all below it.
struct Allowed {
  std::vector<std::filesystem::path> read;   // programs and libraries among them may be run
  std::vector<std::filesystem::path> write;  // read, made and removed too
  Sockets sockets = Sockets::none;
};

// Which walls stand. A system may lack either: landlock needs Linux 5.13, and containers may refuse both.
struct Walls {
  bool files = false;    // landlock
  bool sockets = false;  // seccomp
};

// Confines the calling thread, and every thread and process that it starts from now on, for good. What the system does
// not offer does not hold, and nothing holds where $ATTNSCOPE_CONFINE is "off".
Walls confine_thread(const Allowed& allowed);

// Runs `work` on a thread of its own that is confined first, and waits for it. An exception of `work` is passed on.
// Failure (Stage::limits) when the system makes no thread: `work` has not run.
Result<void> on_confined_thread(const Allowed& allowed, const std::function<void(Walls)>& work);

// $ATTNSCOPE_CONFINE=off
bool confinement_is_off();
// The version of landlock's interface; 0 where there is none.
int landlock_version();

// What every program may read to start: its libraries, the loader's cache, /dev/null and the like; no home, no secret.
std::vector<std::filesystem::path> program_files();

// No core dumps, and no file larger than `max_file_bytes`, for this process and what it starts.
void limit_process(uint64_t max_file_bytes);

// Makes this process, and what it starts, the first that the system ends when its memory runs out.
void go_first_when_memory_runs_out();

}  // namespace attnscope::platform
