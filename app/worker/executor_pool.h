#pragma once
#include <uv.h>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/cpu_time.h"
#include "protocol/message.h"
#include "worker/executor_process.h"
#include "worker/supervisor.h"

namespace attnscope::worker {

// 1500 → "1.5 s"
std::string seconds_text(int64_t ms);

// A supervisor's executors: the active one, which gets the requests, and a warm spare that replaces it. Starts missing
// ones, after growing pauses if starts fail, and ends those that fall silent.
class ExecutorPool {
 public:
  struct Events {
    std::function<void(const protocol::HelloReply&)> on_ready;
    std::function<void(bool from_active, const protocol::Envelope&, std::span<const std::byte> payload)> on_reply;
    // The active executor has ended; call replace(). `how`: "ended by signal 9 (Killed)".
    std::function<void(const std::string& how)> on_active_gone;
  };
  ExecutorPool(uv_loop_t* loop, const SupervisorOptions& options, Events events)
      : loop_(loop), options_(options), events_(std::move(events)) {}

  void start_missing();
  bool ready() const { return active_ && active_->ready; }  // the active one takes requests
  void send(std::vector<std::byte> frame) { active_->send(std::move(frame)); }
  // Ends the active executor if it still runs, and makes the spare active. Returns true if there was a spare.
  bool replace(const std::string& why);
  bool comes_up() const { return failed_starts_ < kStartsBeforeGivingUp; }
  void tick(int64_t ms);  // ends silent executors and removes ended ones
  void end_all(const std::string& why);
  bool all_closed() const;
  // Ends the processes that ended executors left behind (SupervisorOptions::whole_process).
  void end_strays();
  void clear() { executors_.clear(); }  // call after the loop has closed their handles

  // The active executor's share (platform::own_share) of the time since the last call; 1 if the system does not report
  // it. Measured at most ten times a second; empty in between.
  void begin_account();
  std::optional<double> own_share();

 private:
  static constexpr size_t kStartsBeforeGivingUp = 3;  // failed starts in a row

  ExecutorProcess* start_one();
  void on_gone(ExecutorProcess& from, const std::string& how);

  uv_loop_t* loop_;
  const SupervisorOptions& options_;
  Events events_;
  std::list<std::unique_ptr<ExecutorProcess>> executors_;
  ExecutorProcess* active_ = nullptr;
  ExecutorProcess* spare_ = nullptr;
  size_t failed_starts_ = 0;
  uint64_t next_start_ = 0;  // loop time of the earliest next start
  bool over_ = false;

  uint64_t account_at_ = 0;  // loop time, ns
  std::optional<platform::CpuTime> account_;
};

}  // namespace attnscope::worker
