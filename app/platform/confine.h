#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// Which socket families may be opened.
enum class Sockets {
  local,  // only AF_UNIX, which the CUDA driver and its services use
  none,
};

// What a confined thread may access. Paths that do not exist are skipped; a folder includes everything below it.
struct Allowed {
  std::vector<std::filesystem::path> read;   // may be read; programs and libraries here may also run
  std::vector<std::filesystem::path> write;  // as `read`; files here may also be created, written and removed
  Sockets sockets = Sockets::none;
};

// Which of the two confinements are in force. A system may lack either: landlock needs Linux 5.13, and containers may
// refuse both.
struct Walls {
  bool files = false;    // landlock
  bool sockets = false;  // seccomp
};

// Confines the calling thread and every thread and process that it starts from now on. This cannot be undone. A
// confinement that the system does not offer is left out, and none is applied if $ATTNSCOPE_CONFINE is "off".
Walls confine_thread(const Allowed& allowed);

// Runs `work` on a new thread that is confined first, and waits for it. Rethrows an exception of `work`. Failure
// (Stage::limits) if the system refuses the thread; `work` has not run then.
Result<void> on_confined_thread(const Allowed& allowed, const std::function<void(Walls)>& work);

// True if $ATTNSCOPE_CONFINE is "off".
bool confinement_is_off();
// The version of the landlock interface; 0 if there is none.
int landlock_version();

// What every program reads to start: its libraries, the loader's cache, /dev/null and the like. No home folder, no
// secrets.
std::vector<std::filesystem::path> program_files();

// Disables core dumps and limits file sizes to `max_file_bytes`, for this process and those that it starts.
void limit_process(uint64_t max_file_bytes);

// Makes the system end this process and those that it starts before others when memory runs out.
void go_first_when_memory_runs_out();

}  // namespace attnscope::platform
