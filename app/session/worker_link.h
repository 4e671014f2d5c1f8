#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "session/child.h"
#include "session/session.h"
#include "session/snapshot.h"
#include "session/uv.h"

namespace attnscope::session {

// A link's events, on the loop's thread. The handler may call the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void link_up(size_t worker, const protocol::HelloReply& hello) = 0;
  virtual void link_reply(size_t worker, protocol::Reply reply) = 0;  // every reply but HelloReply and Heartbeat
  // A part or a tile of that request cannot be decoded; the connection still works.
  virtual void link_unreadable(size_t worker, protocol::Id request, const std::string& why) = 0;
  virtual void link_down(size_t worker, const std::string& reason) = 0;  // after link_up; the link restarts the worker
  virtual void link_lost(size_t worker, const std::string& reason) = 0;  // not tried again until revive()
  virtual void link_changed(size_t worker) = 0;                          // state() or detail() changed
  virtual void link_said(size_t worker, const std::string& line) = 0;    // a line on the worker's stderr
};

// One worker process: starts it, greets it, reads its messages, and restarts it after growing pauses when it ends. A
// worker is lost if its program cannot be found, if it has another version, or if it ends kMaxFailures times without
// saying hello. A lost remote worker is tried again every kRetryMs, unless its program or version is the reason. A
// worker that says nothing for connect_ms before its banner is also lost. Output on stderr lifts this limit, because a
// worker in a queue may print one line and then wait for hours; that line becomes the detail of its state. After the
// banner a worker has kHelloFactor times connect_ms to say hello, because its executor may need more than one start.
//
// A worker that is up is greeted every quarter of silence_ms: a supervisor that hears nothing ends its kernels.
class WorkerLink : private ChildEvents {
 public:
  static constexpr int kMaxFailures = 5;
  static constexpr uint64_t kRetryMs = 30000;
  static constexpr uint64_t kHelloFactor = 4;

  struct Patience {
    int silence_ms;  // after the hello
    int connect_ms;
  };
  WorkerLink(uv_loop_t* loop, size_t index, WorkerCommand command, Patience patience, LinkEvents& events);

  void start();
  void revive();                                // retries a lost worker; otherwise does nothing
  void dismiss();                               // ends the worker for good, as one that is lost
  void send(const protocol::Request& request);  // dropped unless up()
  void replace(const std::string& reason);      // ends the process and starts another one
  // Ends the worker: by end of input, by SIGTERM too if it has not said hello, and by SIGKILL 2 s later. Calls `ended`
  // once, when the process has ended.
  void shut_down(std::function<void()> ended);

  bool up() const { return hello_.has_value(); }
  // Part of a message has arrived, so its last report about itself is old.
  bool receiving() const { return frames_.in_frame(); }
  bool settled() const { return up() || state_ == WorkerState::lost || said_hello_once_; }
  // It wrote to stderr before its hello, as a worker in a queue does.
  bool waits() const { return child_.runs() && !up() && !(stderr_last_.empty() && stderr_line_.empty()); }
  WorkerState state() const { return state_; }
  const std::string& detail() const { return detail_; }
  const std::string& name() const { return command_.name; }
  const WorkerCommand& command() const { return command_; }
  LinkTrouble trouble() const { return trouble_; }  // why it is restarting or lost
  // From a greeting to its answer, to two digits; of a remote worker that is up.
  std::optional<double> round_trip_ms() const { return round_trip_ms_; }
  const std::vector<GpuReading>& gpus() const { return gpus_; }
  const std::optional<protocol::HelloReply>& hello() const { return hello_; }

 private:
  void child_wrote(std::span<const std::byte> bytes) override;
  void child_closed_output() override;
  void child_said(std::span<const std::byte> bytes) override;
  void child_exited(int64_t status, int signal) override;
  void pause_over();
  void handle(protocol::Reply reply);
  void greet();
  void note_round_trip();
  void drop(const std::string& reason, LinkTrouble trouble = LinkTrouble::ended);
  void give_up(const std::string& reason, LinkTrouble trouble);  // the worker is lost
  // The worker is lost, and another attempt would fail in the same way.
  void refuse(const std::string& reason, LinkTrouble trouble);
  static Result<void> check_version(const std::string& version);
  void look();
  void set_state(WorkerState state, std::string detail);
  std::string last_words() const;

  uv_loop_t* loop_;
  size_t index_;
  WorkerCommand command_;
  uint64_t silence_ms_, connect_ms_;
  LinkEvents& events_;
  Timer pause_, parting_, look_;  // before a restart or a kill; between two signs of an end; between two looks

  Child child_;
  protocol::BannerSkipper banner_;
  protocol::FrameDecoder frames_;
  std::optional<protocol::HelloReply> hello_;
  WorkerState state_ = WorkerState::starting;
  std::string detail_;
  std::string stderr_line_, stderr_last_;
  std::string exit_text_;
  LinkTrouble exit_trouble_ = LinkTrouble::ended;
  LinkTrouble trouble_ = LinkTrouble::none;
  std::optional<double> round_trip_ms_;
  std::vector<GpuReading> gpus_;
  uint64_t greeted_at_ = 0;  // ns, of a greeting without an answer yet; 0: none
  bool said_hello_once_ = false;
  bool stdout_over_ = false;
  bool suspected_ = false;  // one look has found it silent
  bool hopeless_ = false;   // automatic retries would not help
  bool dismissed_ = false;
  int failures_ = 0;             // since it last worked; the pause grows with them
  int unheard_ = 0;              // starts in a row that ended without a hello
  uint64_t connection_ = 0;      // counts starts and ends
  uint64_t heard_at_ = 0;        // loop time
  std::function<void()> ended_;  // called when shut_down() is done
};

}  // namespace attnscope::session
