#pragma once
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/result.h"
#include "session/session.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

struct WorkerOptions {
  std::vector<std::string> given;  // each a worker that the settings name, NAME=COMMAND, or a COMMAND
  double connect_timeout_s = 30;
};

// --worker, as often as wanted, and --connect-timeout.
void add_worker_options(CLI::App& command, WorkerOptions& workers);

enum class Named {
  asked,  // of the workers that the settings name, those that `device` or --worker asks for
  all     // every one
};

// Puts the workers asked for behind this program's own. With --worker and no device, `device` becomes the first
// worker's name, which stands for its best device.
Result<void> add_workers(session::SessionOptions& options, const WorkerOptions& workers, Named named,
                         std::string& device);

// The worker of a library's routines ("torch"), as the program itself starts it on this machine.
Result<session::WorkerCommand> library_worker(const std::string& library);

// Those of every library that `kernels` name, unless a worker of that name is there already.
Result<void> add_library_workers(session::SessionOptions& options, const std::vector<Kernel>& kernels);

}  // namespace attnscope::cli
