#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace attnscope::session {

using JobId = uint64_t;  // the session's name of a request, and its id on the wire

enum class Lane { focus, view, queue, background };

// Which request one worker is sent, and when. Pure: every event returns what is to be done about it.
//
// One request is in flight at a time: a GPU serves one lane at a time. Focus holds one waiting request, the latest;
// views (maps of past runs) come next, then the queue in order, then background. A focus request that supersedes the
// one in flight has it cancelled; it waits for a queue request in flight; it pre-empts a background request, which
// starts again later. A queue request is never dropped: when the connection is lost it is sent again, and after
// kMaxAttempts it is lost, which the session answers with a Failure.
class Lanes {
 public:
  static constexpr int kMaxAttempts = 3;
  static constexpr size_t kMaxViews = 16;  // waiting; the oldest gives way

  struct Step {
    std::vector<JobId> send;        // onto the wire, in order
    std::vector<JobId> cancel;      // ask the worker to end these
    std::vector<JobId> superseded;  // ended here, before they were sent
    std::vector<JobId> lost;        // the worker cannot be had for these
    bool answered = false;          // done() only: the request is over; false: it was pre-empted and waits again
  };

  Step focus(JobId job);
  Step view(JobId job);
  Step queue(JobId job);
  Step background(JobId job);

  // What runs or waits in focus ends: the waiting one here, that in flight by the worker.
  Step cancel_focus();
  Step drop_background();

  Step connected();     // the worker said hello
  Step disconnected();  // the worker went away: what was in flight waits again, at the head of its lane
  // The worker does not answer what is in flight, which ends here; what waits is sent when it is connected() again.
  Step abandon();
  Step give_up();  // no worker is to be had: everything is lost
  // The worker answered. `cancelled`: with the failure that a cancel brings about. An unknown job changes nothing.
  Step done(JobId job, bool cancelled);

  std::optional<JobId> in_flight() const;
  size_t queue_waiting() const;  // unanswered queue requests
  bool idle() const;

 private:
  struct Flight {
    JobId job = 0;
    Lane lane = Lane::focus;
    bool cancel_sent = false;
    bool again = false;  // a pre-empted background request: starts again
  };

  void pump(Step& step);
  void cancel_flight(Step& step);
  void preempt_background(Step& step);
  std::optional<Flight> take_next();
  void put_back(const Flight& flight, Step& step);

  bool connected_ = false;
  std::optional<Flight> flight_;
  std::optional<JobId> focus_;
  std::deque<JobId> views_, queue_, background_;
  std::map<JobId, int> attempts_;  // times sent, of unanswered requests
};

}  // namespace attnscope::session
