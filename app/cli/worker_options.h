#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/experiment_options.h"
#include "core/kernel.h"
#include "core/result.h"
#include "session/session.h"
#include "store/workers.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

struct WorkerOptions {
  std::vector<std::string> given;  // each is the name of a worker in the settings, NAME=COMMAND, or a COMMAND
  double connect_timeout_s = 30;
};

// Adds --worker, which may be repeated, and --connect-timeout.
void add_worker_options(CLI::App& command, WorkerOptions& workers);
void add_connect_timeout(CLI::App& command, WorkerOptions& workers);

// Adds a worker under a unique name: "l4box-2" if there is an l4box.
void add_named_worker(session::SessionOptions& options, const store::NamedWorker& worker);

enum class Named {
  asked,  // those workers in the settings that `device` or --worker names
  all     // every worker in the settings
};

// Adds the requested workers after this program's own. With --worker and no device, `device` becomes the first such
// worker's name, which means its best device.
Result<void> add_workers(session::SessionOptions& options, const WorkerOptions& workers, Named named,
                         std::string& device);

// Session options (places.h) with the requested workers; only caches are kept on disk.
Result<session::SessionOptions> options_with_workers(const std::vector<std::string>& kernel_dirs,
                                                     const WorkerOptions& workers, std::string& device);

// True if a device, as a person names it, belongs to this program's own worker.
bool is_local(const std::string& device);

// Adds the flag to this program's own worker and to every other whose command ends with "attnscope worker", because
// other programs do not know it. Returns the names of those other workers that are not attnscope's.
std::vector<std::string> add_worker_flag(std::vector<session::WorkerCommand>& workers, const std::string& flag);

// Adds the workers for every library that `kernels` name, unless a worker with that name exists already.
void add_library_workers(session::SessionOptions& options, const std::vector<Kernel>& kernels);

// A session on those workers that keeps nothing and runs only what is requested. A device from the command line is
// stored in `draft`.
Result<std::unique_ptr<session::Session>> bare_session(const ExperimentOptions& experiment,
                                                       const WorkerOptions& workers, Draft& draft);

}  // namespace attnscope::cli
