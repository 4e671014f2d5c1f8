#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  size_t count = 0;   // workers started by srun; 0: not requested
};

// Adds --worker, --connect-timeout, --slurm and --workers.
void add_pool_options(CLI::App& command, PoolOptions& pool);

// A session, and the device that a sweep runs on; with `sharing`, on several workers.
struct Pool {
  std::unique_ptr<WaitingSession> session;
  WaitingSession::Found device;
  std::optional<session::Sharing> sharing;

  // Opens a pool on the device that the command line names (`asked`). With --worker or --slurm: on that device of each
  // of those workers, or the first one's best. With neither: on `wish` if no device is named, and if that is a GPU, on
  // every GPU of this machine that is like it. Waits until each worker is up, lost or in a queue, and one is up.
  // Failure: all are lost, one has no such device, or two devices are not alike.
  static Result<Pool> open(const std::vector<std::string>& kernel_dirs, const PoolOptions& options,
                           const protocol::Deadlines& deadlines, const std::string& asked, const std::string& wish);
};

// The device of a sweep that names none: a given preset's, or empty, the best of this machine. The preset that stands
// in where none is given says where a first run goes, and not where a sweep does.
std::string wish_of(const ExperimentOptions& options, const Draft& draft);

// srun's command line for one worker of this program. Failure (Stage::input): an open quote in `arguments`.
Result<std::vector<std::string>> srun_command(const std::string& arguments, const std::string& program);

// The GPUs of one machine that can share a sweep with its GPU `first`, and why the others cannot.
struct LikeGpus {
  std::vector<std::string> ids;       // includes `first`
  std::vector<std::string> left_out;  // the reasons, as sentences
};
LikeGpus gpus_like(const DeviceSpec& first, const std::vector<DeviceSpec>& here);

// What the workers that share a sweep do: changes as lines on stderr, the present state as text.
class PoolWords {
 public:
  explicit PoolWords(session::Sharing sharing) : sharing_(std::move(sharing)) {}

  // Returns true if text() has changed.
  bool look(const session::Snapshot& snapshot);
  // "l4box busy, l4box-2 restarting: it was ended by signal 9 (Killed)"; with more than four workers only their
  // numbers.
  const std::string& text() const { return text_; }

 private:
  struct Seen {
    bool up = false;
    std::string left_out;  // the reason, if its device is not like the others
    std::string said;      // its last reported trouble
  };
  void look(Seen& seen, const session::WorkerStatus& worker, const session::Snapshot& snapshot,
            const std::string& device) const;

  session::Sharing sharing_;
  WaitingWords waiting_;
  uint64_t version_ = 0;              // of the last snapshot
  std::map<std::string, Seen> seen_;  // by worker name
  std::string text_;
};

}  // namespace attnscope::cli
