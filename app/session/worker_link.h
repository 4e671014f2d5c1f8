#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "session/session.h"
#include "session/snapshot.h"
#include "session/uv.h"

namespace attnscope::session {

// A link's events, on the loop's thread. The handler may call the link.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void link_up(size_t worker, const protocol::HelloReply& hello) = 0;
  virtual void link_reply(size_t worker, protocol::Reply reply) = 0;  // all but HelloReply and Heartbeat
  // A part or a tile of that request cannot be read; the connection is sound.
  virtual void link_unreadable(size_t worker, protocol::Id request, const std::string& why) = 0;
  virtual void link_down(size_t worker, const std::string& reason) = 0;  // after link_up; it is started again
  virtual void link_lost(size_t worker, const std::string& reason) = 0;  // given up until revive()
  virtual void link_changed(size_t worker) = 0;                          // state() or detail()
  virtual void link_said(size_t worker, const std::string& line) = 0;    // a line of its stderr
};

// One worker process: starts it, greets it, reads its messages, and restarts it with growing pauses when it ends. A
// worker is lost if its program cannot be found, if it has another version, or if it ends kMaxFailures times without
// saying hello. A lost remote worker is tried again every kRetryMs, unless its program or version is the reason. A
// worker that says nothing for connect_ms before its banner is also lost. Output on stderr lifts this limit: the worker
// may wait in a queue, which prints one line and then waits for hours; that line becomes the detail of its state. After
// the banner it has kHelloFactor times connect_ms for its hello: its executor may need more than one start.
//
// Once it is up, it is greeted every quarter of silence_ms: a supervisor that hears nothing any more ends its kernels.
class WorkerLink {
 public:
  static constexpr int kMaxFailures = 5;
  static constexpr uint64_t kRetryMs = 30000;
  static constexpr uint64_t kHelloFactor = 4;

  struct Patience {
    int silence_ms;  // after the hello
    int connect_ms;
  };
  WorkerLink(uv_loop_t* loop, size_t index, WorkerCommand command, Patience patience, LinkEvents& events);
  ~WorkerLink();

  void start();
  void revive();                                // tries a lost worker again; otherwise does nothing
  void send(const protocol::Request& request);  // dropped unless up()
  void replace(const std::string& reason);      // ends its process and starts another one
  // Ends the worker: end of input first, SIGTERM too if it has not said hello, SIGKILL 2 s later. `ended` runs once,
  // when its process has ended.
  void shut_down(std::function<void()> ended);

  bool up() const { return hello_.has_value(); }
  bool receiving() const { return frames_.in_frame(); }  // a message is incomplete: its last report about itself is old
  bool settled() const { return up() || state_ == WorkerState::lost || said_hello_once_; }
  // It said something on stderr before its hello, as a queue does.
  bool waits() const { return process_ && !up() && !(stderr_last_.empty() && stderr_line_.empty()); }
  WorkerState state() const { return state_; }
  const std::string& detail() const { return detail_; }
  const std::string& name() const { return command_.name; }
  const std::optional<protocol::HelloReply>& hello() const { return hello_; }

 private:
  struct Process;

  void pause_over();
  void read_stdout(std::span<const std::byte> bytes);
  void read_stderr(std::span<const std::byte> bytes);
  void handle(protocol::Reply reply);
  void process_exited(int64_t status, int signal);
  void stdout_ended();
  void drop(const std::string& reason);
  void give_up(const std::string& reason);  // it is lost
  void refuse(const std::string& reason);   // and another attempt would fail in the same way
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

  Process* process_ = nullptr;  // owns itself until its exit is reaped
  Uv<uv_pipe_t> stdin_, stdout_, stderr_;
  std::vector<char> read_buffer_;
  protocol::BannerSkipper banner_;
  protocol::FrameDecoder frames_;
  std::optional<protocol::HelloReply> hello_;
  WorkerState state_ = WorkerState::starting;
  std::string detail_;
  std::string stderr_line_, stderr_last_;
  std::string exit_text_;
  bool said_hello_once_ = false;
  bool stdout_over_ = false;
  bool suspected_ = false;       // of silence, once
  bool hopeless_ = false;        // trying again by itself would not help
  int failures_ = 0;             // since it last worked: the pause grows with them
  int unheard_ = 0;              // starts without a hello, in a row
  uint64_t connection_ = 0;      // a new one after each start and each end
  uint64_t heard_at_ = 0;        // loop time
  std::function<void()> ended_;  // set while shutting down
};

}  // namespace attnscope::session
