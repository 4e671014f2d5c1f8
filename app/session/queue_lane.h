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

// The answer to a request that the session's end overtook.
Observation session_over();

// The requests of the queue: held until a worker says which devices it has, then placed as a job, then answered once.
class QueueLane {
 public:
  struct Request {
    Draft draft;
    Watch watch = Watch::never;
    std::shared_ptr<Answer> answer;
  };
  struct Ended {
    Observation observation;
    std::shared_ptr<Answer> answer;  // the caller gives it the observation, once that is kept
  };

  void hold(Request request) { held_.push_back(std::move(request)); }
  std::vector<Request> release() { return std::exchange(held_, {}); }

  // `needs_watch`: a run without its watch is not complete.
  void place(JobId job, const Experiment& experiment, bool needs_watch, std::shared_ptr<Answer> answer);
  // It is sent, perhaps once more: what came before does not count.
  void restart(JobId job);
  // Without effect on what is no job of the queue.
  void take_part(const protocol::Part& part);
  // `versions`: the worker's, for a run that ended before it told its own.
  Ended finish(JobId job, std::optional<Failure> failure, const std::string& worker, const Versions& versions);
  size_t unanswered() const { return held_.size() + placed_.size(); }
  // Answers everything: the session ends.
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
