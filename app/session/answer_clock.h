#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace attnscope::session {

// Counts how long a worker has done nothing for the request it holds. A worker keeps the request's deadlines itself;
// this is for one that does not: it beats as if all were well and never answers. Time is fed in ticks, so that our own
// absence is not taken for the worker's.
class AnswerClock {
 public:
  static constexpr int64_t kLongestTick = 1000;  // ms

  // Starts counting. `idle_ms` is the limit for a worker that says it is idle or that was asked to stop. `busy_ms` is
  // the limit for a worker that says it is busy or restarts: a sound one always reports on a request within it.
  void sent(int64_t idle_ms, int64_t busy_ms) {
    limits_ = Limits{idle_ms, std::max(idle_ms, busy_ms)};
    waited_ms_ = idle_waited_ms_ = 0;
    asked_to_stop_ = false;
  }
  void over() { limits_.reset(); }
  void moved() { waited_ms_ = idle_waited_ms_ = 0; }  // the worker reported progress on the request
  void asked_to_stop() {
    if (asked_to_stop_) return;
    asked_to_stop_ = true;
    waited_ms_ = idle_waited_ms_ = 0;
  }

  // Returns how long the worker has been silent, in ms, once that exceeds its limit.
  std::optional<int64_t> tick(int64_t ms, bool idle) {
    if (!limits_) return std::nullopt;
    ms = std::min(ms, kLongestTick);
    waited_ms_ += ms;
    idle_waited_ms_ = idle ? idle_waited_ms_ + ms : 0;
    const int64_t limit = asked_to_stop_ ? limits_->idle_ms : limits_->busy_ms;
    if (waited_ms_ > limit || idle_waited_ms_ > limits_->idle_ms) return waited_ms_;
    return std::nullopt;
  }

 private:
  struct Limits {
    int64_t idle_ms, busy_ms;
  };
  std::optional<Limits> limits_;  // empty: the worker holds no request
  int64_t waited_ms_ = 0;         // since the last progress
  int64_t idle_waited_ms_ = 0;    // the part of waited_ms_ since the worker last said that it is not idle
  bool asked_to_stop_ = false;
};

}  // namespace attnscope::session
