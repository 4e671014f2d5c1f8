#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace attnscope::session {

using JobId = uint64_t;  // the session's id of a request, also used on the wire

enum class Lane { focus, view, queue, background, scan };  // in order of priority

// Decides which request one worker gets, and when. Pure: every event returns what to do.
//
// One request is in flight at a time, because a GPU serves one lane at a time. Focus holds one waiting request, the
// latest; then come views (maps of past runs), the queue in order, background, and scans. A focus request cancels an
// older one in flight, waits for a queue request in flight, and pre-empts a background or scan request, which starts
// again later. A queue request is never dropped: it is sent again after the connection is lost. After kMaxAttempts it
// counts as lost, and the session answers it with a Failure.
class Lanes {
 public:
  static constexpr int kMaxAttempts = 3;
  static constexpr size_t kMaxViews = 16;  // views that wait; beyond them the oldest is dropped

  struct Step {
    std::vector<JobId> send;        // to send to the worker, in order
    std::vector<JobId> cancel;      // to cancel at the worker
    std::vector<JobId> superseded;  // ended before they were sent
    std::vector<JobId> lost;        // ended because the worker is not available
    bool answered = false;          // set by done() only; false: the request was pre-empted and waits again
  };

  Step ask(Lane lane, JobId job);
  // Ends the lane's requests: drops the waiting ones and cancels the one in flight.
  Step cancel(Lane lane);

  Step connected();     // the worker said hello
  Step disconnected();  // the worker went away; the request in flight waits again, at the head of its lane
  // Ends the request in flight, which the worker does not answer. Waiting requests are sent after the next connected().
  Step abandon();
  Step give_up();  // no worker is available; every request is lost
  // The worker answered `job`. `cancelled`: it answered with the failure of a cancelled request. Unknown jobs are
  // ignored.
  Step done(JobId job, bool cancelled);

  // Holds back every request for which `waits` returns true; others of its lane pass it. An empty function releases
  // them all. The request in flight continues.
  Step hold(std::function<bool(JobId)> waits);

  // The session has answered the request in flight itself. The worker's later messages on it are ignored, and its lane
  // stays busy until done().
  void answered_here();

  std::optional<JobId> in_flight() const;
  bool idle() const;

 private:
  struct Flight {
    JobId job = 0;
    Lane lane = Lane::focus;
    bool cancel_sent = false;
    bool again = false;  // pre-empted, to be sent again
  };

  bool flies(Lane lane) const { return flight_ && flight_->lane == lane; }
  std::deque<JobId>& waiting(Lane lane) { return waiting_[static_cast<size_t>(lane)]; }
  JobId take_first(std::deque<JobId>& jobs);
  void end(JobId job, std::vector<JobId>& how);
  void pump(Step& step);
  void cancel_flight(Step& step);
  void put_back(const Flight& flight, Step& step);

  bool connected_ = false;
  std::optional<Flight> flight_;
  std::array<std::deque<JobId>, 5> waiting_;
  std::function<bool(JobId)> waits_;
  std::map<JobId, int> attempts_;  // how often each unanswered request was sent
};

}  // namespace attnscope::session
