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
  std::vector<std::string> given;  // each the name of a worker in the settings, NAME=COMMAND, or a COMMAND
  double connect_timeout_s = 30;
};

// --worker, which may be repeated, and --connect-timeout.
void add_worker_options(CLI::App& command, WorkerOptions& workers);
void add_connect_timeout(CLI::App& command, WorkerOptions& workers);

// One more worker, under a name that is its own: "l4box-2" where there is an l4box.
void add_named_worker(session::SessionOptions& options, const store::NamedWorker& worker);

enum class Named {
  asked,  // of the workers in the settings, those that `device` or --worker names
  all     // every one
};

// Adds the requested workers after this program's own. With --worker and no device, `device` becomes the first worker's
// name, which stands for its best device.
Result<void> add_workers(session::SessionOptions& options, const WorkerOptions& workers, Named named,
                         std::string& device);

// Session options (places.h) with the requested workers; nothing but caches is kept on disk.
Result<session::SessionOptions> options_with_workers(const std::vector<std::string>& kernel_dirs,
                                                     const WorkerOptions& workers, std::string& device);

// Whether a device, as a person names it, belongs to this program's own worker.
bool is_local(const std::string& device);

// Gives the flag to this program's own worker and to every other whose command ends with the words "attnscope worker";
// another program does not know it. Returns the names of those others.
std::vector<std::string> add_worker_flag(std::vector<session::WorkerCommand>& workers, const std::string& flag);

// The workers of every library that `kernels` name, unless a worker of that name exists already.
void add_library_workers(session::SessionOptions& options, const std::vector<Kernel>& kernels);

// A session over those workers that keeps nothing and runs only what is asked of it. A device named on the command line
// goes into `draft`.
Result<std::unique_ptr<session::Session>> bare_session(const ExperimentOptions& experiment,
                                                       const WorkerOptions& workers, Draft& draft);

}  // namespace attnscope::cli
