#pragma once
#include <filesystem>
#include <string>

#include "catalog/devices.h"
#include "worker/purpose.h"

namespace attnscope::worker {

struct ExecutorOptions {
  std::string version;
  std::filesystem::path cache;  // empty: nothing on disk
  std::filesystem::path assets;
  Purpose purpose = Purpose::run;
  catalog::DeviceCatalog devices;  // emulated; read before the walls stand, since one may be in a home folder
};

// Serves the supervisor at the other ends of fd_in and fd_out (blocking descriptors): says hello once it is warm, pings
// four times a second, runs one request at a time and answers views meanwhile. Does not return: the process ends at the
// end of its input.
[[noreturn]] void run_executor(int fd_in, int fd_out, ExecutorOptions options);

}  // namespace attnscope::worker
