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

using JobId = uint64_t;  // the session's name of a request, and its id on the wire

enum class Lane { focus, view, queue, background, scan };  // the first is served first

// Which request one worker gets, and when. Pure: every event returns what to do.
//
// One request is in flight at a time: a GPU serves one lane at a time. Focus holds one waiting request, the latest;
// views (maps of past runs) come next, then the queue in order, then background, then scans. A focus request cancels an
// older one in flight; it waits for a queue request in flight; it pre-empts a background request or a scan's, which
// starts again later. A
// queue request is never dropped: when the connection is lost, it is sent again, and after kMaxAttempts it is lost,
// which the session answers with a Failure.
class Lanes {
 public:
  static constexpr int kMaxAttempts = 3;
  static constexpr size_t kMaxViews = 16;  // waiting; beyond them the oldest is dropped

  struct Step {
    std::vector<JobId> send;        // onto the wire, in order
    std::vector<JobId> cancel;      // ask the worker to end these
    std::vector<JobId> superseded;  // ended here, before they were sent
    std::vector<JobId> lost;        // the worker is not available for these
    bool answered = false;          // done() only: the request is over; false: it was pre-empted and waits again
  };

  Step ask(Lane lane, JobId job);
  // What runs or waits in that lane ends: what waits here, what is in flight by the worker.
  Step cancel(Lane lane);

  Step connected();     // the worker said hello
  Step disconnected();  // the worker went away: the request in flight waits again, at the head of its lane
  // The worker does not answer the request in flight, which ends here; waiting ones are sent when it is connected()
  // again.
  Step abandon();
  Step give_up();  // no worker is available: everything is lost
  // The worker answered. `cancelled`: with the failure that a cancel causes. An unknown job changes nothing.
  Step done(JobId job, bool cancelled);

  // From now on a request of which `waits` is true is not sent, while others of its lane pass it; without one, all are
  // sent again. What is in flight stays.
  Step hold(std::function<bool(JobId)> waits);

  // What is in flight is answered here, whatever the worker still says of it; its lane waits for the worker's done().
  void answered_here();

  std::optional<JobId> in_flight() const;
  bool idle() const;

 private:
  struct Flight {
    JobId job = 0;
    Lane lane = Lane::focus;
    bool cancel_sent = false;
    bool again = false;  // pre-empted: starts again
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
  std::map<JobId, int> attempts_;  // times sent, of unanswered requests
};

}  // namespace attnscope::session
