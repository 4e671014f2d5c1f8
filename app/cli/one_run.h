#pragma once
#include <atomic>
#include <chrono>

#include "cli/experiment_options.h"
#include "cli/worker_options.h"
#include "core/observation.h"
#include "session/session.h"

namespace CLI {
class Option;
}

namespace attnscope::cli {

// One experiment from the command line.
struct OneRun {
  ExperimentOptions experiment;
  WorkerOptions workers;
  int deadline_ms = 0;  // 0: the default of each stage
  // A person waits for it and can end it: a CTA of tens of millions of instructions may take longer than the window's
  // deadline.
  bool patient = false;
  session::Watch watch = session::Watch::emulated;
  const std::atomic<bool>* stop = nullptr;  // set from elsewhere: ends the run
  std::string worker_flag;                  // an option passed to every worker that is attnscope's (add_worker_flag)
  int64_t emulated_ms = 0;                  // the least time that the emulator may take; 0: the experiment's
  std::chrono::milliseconds most{0};        // ends the run after this time; 0: no limit
};

void add_deadline_option(CLI::App& command, OneRun& run);
// --watch[=all]; each command decides what it means without "all".
CLI::Option* add_watch_option(CLI::App& command, std::string& watch, const char* about);
inline constexpr const char* kWatchAll = "all";

struct Ran {
  Observation observation;
  Kernel kernel;
};
// Through a session of its own (session/run_once.h). Says on stderr what it waits for.
// `share`: of the CTAs that are emulated; 0: the experiment's.
Result<Ran> run_one(const OneRun& run, double share = 0);

}  // namespace attnscope::cli
