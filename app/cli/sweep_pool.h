#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/device_wait.h"
#include "cli/experiment_options.h"
#include "cli/waiting_words.h"
#include "cli/worker_options.h"
#include "session/session.h"
#include "session/sharing.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// Which workers share a sweep.
struct PoolOptions {
  WorkerOptions workers;
  std::string slurm;  // arguments of srun
  size_t count = 0;   // workers through srun; 0: not asked for
};

// --worker, --connect-timeout, --slurm and --workers.
void add_pool_options(CLI::App& command, PoolOptions& pool);

// A session, and the device that a sweep runs on; with `sharing`, through several workers.
struct Pool {
  std::unique_ptr<WaitingSession> session;
  WaitingSession::Found device;
  std::optional<session::Sharing> sharing;

  // At the device that the command line names (`asked`). With --worker or --slurm: that device of each of those
  // workers, or the first one's best. With neither: `wish` if none is asked for, and where that is a GPU, every GPU of
  // this machine that is like it. Waits for each worker until it is up, lost or in a queue, and for one to be up.
  // Failure: all are lost, one has no such device, or two devices are not alike.
  static Result<Pool> open(const std::vector<std::string>& kernel_dirs, const PoolOptions& options,
                           const protocol::Deadlines& deadlines, const std::string& asked, const std::string& wish);
};

// The device of a sweep that names none: a given preset's, or empty, the best of this machine. The preset that stands
// in where none is given says where a first run goes, and not where a sweep does.
std::string wish_of(const ExperimentOptions& options, const Draft& draft);

// srun's command line for one worker of this program. Failure (Stage::input): an open quote in `arguments`.
Result<std::vector<std::string>> srun_command(const std::string& arguments, const std::string& program);

// GPUs of one machine that can share a sweep with its GPU `first`, and why the others cannot.
struct LikeGpus {
  std::vector<std::string> ids;       // `first` included
  std::vector<std::string> left_out;  // sentences
};
LikeGpus gpus_like(const DeviceSpec& first, const std::vector<DeviceSpec>& here);

// What the workers that share a sweep do, in words: changes as lines on stderr, the present as text.
class PoolWords {
 public:
  explicit PoolWords(const session::Sharing& sharing) : sharing_(sharing) {}

  // True: text() has changed.
  bool look(const session::Snapshot& snapshot);
  // "l4box busy, l4box-2 restarting: it was ended by signal 9 (Killed)"; of more than four workers their numbers.
  const std::string& text() const { return text_; }

 private:
  struct Seen {
    bool up = false;
    std::string left_out;  // why, if its device is another one
    std::string said;      // its trouble
  };
  void look(Seen& seen, const session::WorkerStatus& worker, const session::Snapshot& snapshot,
            const std::string& device) const;

  const session::Sharing& sharing_;
  WaitingWords waiting_;
  uint64_t version_ = 0;              // of the last snapshot
  std::map<std::string, Seen> seen_;  // by the worker's name
  std::string text_;
};

}  // namespace attnscope::cli
