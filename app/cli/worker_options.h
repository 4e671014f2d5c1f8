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
  std::vector<std::string> given;  // each the name of a worker in the settings, NAME=COMMAND, or a COMMAND
  double connect_timeout_s = 30;
};

// --worker, which may be repeated, and --connect-timeout.
void add_worker_options(CLI::App& command, WorkerOptions& workers);

enum class Named {
  asked,  // of the workers in the settings, those that `device` or --worker names
  all     // every one
};

// Adds the requested workers after this program's own. With --worker and no device, `device` becomes the first worker's
// name, which stands for its best device.
Result<void> add_workers(session::SessionOptions& options, const WorkerOptions& workers, Named named,
                         std::string& device);

// The worker for a library's routines ("torch"), as the program itself starts it on this machine.
Result<session::WorkerCommand> library_worker(const std::string& library);

// The workers of every library that `kernels` name, unless a worker of that name exists already.
Result<void> add_library_workers(session::SessionOptions& options, const std::vector<Kernel>& kernels);

}  // namespace attnscope::cli
