#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace attnscope::cli {

// Says on stderr what a wait for workers is for, each message once: "worker l4box: srun: job 7 queued and waiting for
// resources". A worker that answers soon is not mentioned. Call look() repeatedly during the wait.
class WaitingWords {
 public:
  static constexpr std::chrono::seconds kSoon{3};
  static constexpr std::chrono::seconds kBetweenLooks{1};

  void look(const session::Snapshot& snapshot);
  // Queues the draft and calls look() until its answer is there.
  Observation wait(session::Session& session, Draft draft, session::Watch watch);

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::vector<std::string> said_;  // the last message of each worker
};

// Returns the code of an experiment that the session ran; for a program, the code of launch `step`, counted from 0.
// Blocks until the code is there or refused.
Result<session::Shared<Listing>> wait_for_code(session::Session& session, const Experiment& experiment,
                                               std::optional<int64_t> step = {});
// Returns what the experiment's kernel holds of that row, in Listing::softmax. Blocks likewise.
Result<session::Shared<Listing>> wait_for_softmax(session::Session& session, const Experiment& experiment,
                                                  const SoftmaxRow& row);

// Returns how its SMs spend their time, in Listing::timeline. Blocks likewise.
Result<session::Shared<Listing>> wait_for_timeline(session::Session& session, const Experiment& experiment,
                                                   const TimelineAsk& ask);

}  // namespace attnscope::cli
