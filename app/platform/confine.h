#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// Which socket families may be opened.
enum class Sockets {
  local,  // only AF_UNIX: the CUDA driver and its services use it
  none,
};

// What a confined thread may still do. Paths that do not exist are skipped; a folder includes everything below it.
struct Allowed {
  std::vector<std::filesystem::path> read;   // programs and libraries here may also run
  std::vector<std::filesystem::path> write;  // files here may also be read, made and removed
  Sockets sockets = Sockets::none;
};

// Which walls stand. A system may lack either: landlock needs Linux 5.13, and containers may refuse both.
struct Walls {
  bool files = false;    // landlock
  bool sockets = false;  // seccomp
};

// Confines the calling thread and every thread and process that it starts from now on; there is no way back. A wall
// that the system does not offer is left out, and there are no walls when $ATTNSCOPE_CONFINE is "off".
Walls confine_thread(const Allowed& allowed);

// Runs `work` on a new thread that is confined first, and waits for it. Passes on an exception of `work`. Failure
// (Stage::limits) when the system gives no thread; `work` has not run then.
Result<void> on_confined_thread(const Allowed& allowed, const std::function<void(Walls)>& work);

// $ATTNSCOPE_CONFINE=off
bool confinement_is_off();
// The landlock interface's version; 0 where there is none.
int landlock_version();

// What every program may read to start: its libraries, the loader's cache, /dev/null and the like. No home folder, no
// secrets.
std::vector<std::filesystem::path> program_files();

// No core dumps, and no file larger than `max_file_bytes`, for this process and what it starts.
void limit_process(uint64_t max_file_bytes);

// When memory runs out, the system ends this process and what it starts first.
void go_first_when_memory_runs_out();

}  // namespace attnscope::platform
