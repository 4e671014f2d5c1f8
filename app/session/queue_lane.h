#pragma once
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"
#include "protocol/part.h"
#include "session/lanes.h"
#include "session/session.h"

namespace attnscope::session {

using Answer = std::promise<Observation>;

// The answer to requests that are open when the session ends.
Observation session_over();

// The requests of the queue. A request waits until a worker reports its devices, becomes a job, and is answered once.
class QueueLane {
 public:
  struct Request {
    Draft draft;
    Watch watch = Watch::never;
    std::shared_ptr<Answer> answer;
  };
  struct Ended {
    Observation observation;
    std::shared_ptr<Answer> answer;  // the caller stores the observation, then sets the answer
  };

  void hold(Request request) { held_.push_back(std::move(request)); }
  std::vector<Request> release() { return std::exchange(held_, {}); }

  // `needs_watch`: a run without a watch is incomplete and fails.
  void place(JobId job, const Experiment& experiment, bool needs_watch, std::shared_ptr<Answer> answer);
  // The job is sent, perhaps again: drops the parts received so far.
  void restart(JobId job);
  // Ignores parts of jobs that are not in the queue.
  void take_part(const protocol::Part& part);
  // `versions`: the worker's, used if the run ended before it reported its own.
  Ended finish(JobId job, std::optional<Failure> failure, const std::string& worker, const Versions& versions);
  size_t unanswered() const { return held_.size() + placed_.size(); }
  // Answers every open request, because the session ends.
  void shut_down();

 private:
  struct Placed {
    Observation own;
    bool needs_watch = false;
    std::shared_ptr<Answer> answer;
  };

  std::vector<Request> held_;
  std::map<JobId, Placed> placed_;
};

}  // namespace attnscope::session
