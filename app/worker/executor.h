#pragma once
#include <filesystem>
#include <string>

#include "catalog/devices.h"
#include "worker/purpose.h"

namespace attnscope::worker {

struct ExecutorOptions {
  std::string version;
  std::filesystem::path cache;  // empty: nothing is kept on disk
  std::filesystem::path assets;
  Purpose purpose = Purpose::run;
  // Emulated devices; loaded before the process is confined, because a spec may be in a home folder.
  catalog::DeviceCatalog devices;
};

// Serves the supervisor over fd_in and fd_out (blocking descriptors). Says hello once it is warm, pings four times a
// second, runs one request at a time and answers view requests meanwhile. Does not return: the process exits at the end
// of its input.
[[noreturn]] void run_executor(int fd_in, int fd_out, ExecutorOptions options);

}  // namespace attnscope::worker
