#pragma once
#include <uv.h>

#include <deque>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "worker/executor_pool.h"
#include "worker/kernel_store.h"
#include "worker/progress_clock.h"
#include "worker/supervisor.h"

namespace attnscope::worker {

using protocol::Envelope;
using protocol::Id;
using protocol::Reply;
using protocol::Request;

// A run, watch or listing that waits or is being executed.
struct Job {
  Id id = 0;
  std::string kernel_hash;
  std::string name;  // "tiled BLOCK_M=32 NUM_WARPS=4 on emulated:l4"
  bool emulated = true;
  protocol::Deadlines deadlines;
  std::vector<std::byte> frame;
  std::optional<int64_t> kernel_wait_ms;  // time since the kernel was requested from the client
  bool tried = false;                     // an executor died before it reported anything on this job
};

// True for messages that may be dropped if the client reads slowly, because later ones replace them.
bool droppable(const Envelope& reply);

// The supervisor's loop. supervisor_client.cpp handles the client, supervisor.cpp the executors and time.
class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options)
      : options_(options),
        buffer_(size_t{256} << 10),
        pool_(&loop_, options,
              {[this](const protocol::HelloReply& hello) { on_ready(hello); },
               [this](bool from_active, const Envelope& reply, std::span<const std::byte> payload) {
                 on_reply(from_active, reply, payload);
               },
               [this](const std::string& how) { on_active_gone(how); }}) {}
  int serve(int fd_in, int fd_out);

 private:
  struct Current {
    Job job;
    ProgressClock clock;
    std::optional<int64_t> asked_ms;  // time since it was asked to stop
    std::optional<Failure> overdue;   // set if it missed its deadline; then this is its answer
    bool heard = false;               // the executor has reported on it
  };

  // The client's side
  bool open(int fd_in, int fd_out);
  void on_input(ssize_t count, const uv_buf_t* buffer);
  void on_payload(std::span<const std::byte> payload);
  void accept(const protocol::Hello& hello, std::span<const std::byte>);
  void accept(const protocol::KernelContent& kernel, std::span<const std::byte>);
  void accept(const protocol::Run& run, std::span<const std::byte> payload);
  void accept(const protocol::Watch& watch, std::span<const std::byte> payload);
  void accept(const protocol::Code& code, std::span<const std::byte> payload);
  void accept(const protocol::View& view, std::span<const std::byte> payload);
  void accept(const protocol::Cancel& cancel, std::span<const std::byte>);
  void accept(const protocol::Restart& restart, std::span<const std::byte>);
  void ask_for_readings();
  void enqueue(Job job, std::span<const std::byte> payload);
  bool in_use(Id id) const;
  void reply(const Reply& reply);
  void write_client(std::vector<std::byte> frame);
  void log(Severity level, std::string text) { reply(protocol::Log{level, std::move(text)}); }
  void finish(Id id, std::optional<Failure> failure, bool with_part);

  // The executors' side
  void on_ready(const protocol::HelloReply& hello);
  void on_reply(bool from_active, const Envelope& reply, std::span<const std::byte> payload);
  void on_done(const protocol::Done& done, std::span<const std::byte> payload);
  void on_active_gone(const std::string& how);
  void pump();
  void end_current(Failure failure, const std::string& why);
  void retire_active(const std::string& why);
  void fail_views();
  void give_up_starting(const std::string& how);

  // Time
  void on_tick();
  void watch_current(int64_t ms);
  void watch_kernel_wait(int64_t ms);
  void watch_client(int64_t ms);
  void ask_to_stop();
  void heartbeat();
  bool client_lags() const;  // it reads more slowly than we write
  void shut_down(int status);
  void close_own_handles();

  const SupervisorOptions& options_;
  uv_loop_t loop_{};
  uv_pipe_t in_{}, out_{};
  uv_timer_t tick_{}, beat_{};
  std::list<uv_signal_t> signals_;
  std::vector<char> buffer_;
  protocol::FrameDecoder decoder_;
  KernelStore kernels_;

  ExecutorPool pool_;
  uint64_t last_tick_ = 0;

  std::optional<protocol::HelloReply> hello_;
  std::vector<Id> waiting_hellos_;
  std::vector<GpuReading> gpus_;  // the last readings of an executor
  std::deque<Job> queue_;
  std::optional<Current> current_;
  std::set<Id> views_;                       // passed to the active executor
  int64_t unaccounted_ms_ = 0;               // the current request's time that its clock has not counted yet
  std::optional<int64_t> client_silent_ms_;  // time since its last message; empty: it does not greet regularly
  bool greeted_ = false;
  bool stopping_ = false;
  int status_ = 0;
};

}  // namespace attnscope::worker
