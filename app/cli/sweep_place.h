#pragma once
#include <memory>
#include <optional>
#include <string>

#include "cli/device_wait.h"
#include "cli/status_line.h"
#include "cli/sweep_pool.h"
#include "cli/waiting_words.h"
#include "sweep/search.h"

namespace attnscope::cli {

// Where a search runs: a session of its own, and the user's results.
struct SweepPlace : sweep::Place {
  std::unique_ptr<WaitingSession> waiting;
  std::shared_ptr<std::unique_ptr<WaitingSession>> beside;  // the second session, once it is opened

  // Starts a session on the device with that id (empty: its first worker's best).
  static Result<SweepPlace> open(session::SessionOptions options, const std::string& device);
  static Result<SweepPlace> of(Pool pool);
  // The model of such a place ranks in a session of its own, on this machine.
  void rank_beside(const std::vector<std::string>& kernel_dirs);
};

// A search's progress as a line on stderr, and what its workers wait for.
class SweepLine {
 public:
  // Of a search of these configs. `prefix` precedes the text of the line; may be empty.
  SweepLine(const sweep::Place& place, const sweep::Plan& plan, const std::vector<Config>& configs, std::string prefix);
  // Makes the search report to this line, which must outlive it.
  void follow(sweep::Search::Settings& settings);
  void clear() { line_.show(""); }

 private:
  void show(const sweep::Progress& now);
  void show();

  StatusLine line_;
  std::string prefix_;
  Kernel kernel_;
  CompileOptions options_;  // of the held config
  WaitingWords waiting_;
  std::optional<PoolWords> pool_words_;
  std::string how_far_;
  PartsDone parts_;
};

}  // namespace attnscope::cli
