#pragma once
#include <cstdint>
#include <string>

#include "protocol/message.h"

namespace attnscope::worker {

// Counts time without progress of the request that an executor works on, on the supervisor's own clock. Time is fed in
// small ticks, so that a supervisor that was itself stopped or starved does not take its own absence for the
// executor's.
class ProgressClock {
 public:
  static constexpr int64_t kLongestTick = 200;  // ms

  ProgressClock(protocol::Deadlines deadlines, bool emulated) : deadlines_(deadlines), emulated_(emulated) {}

  // A message that moves the work on: another step, or more of it done. Repeating the same figures is no progress.
  void on_progress(const protocol::Progress& progress);
  void on_final_part() { idle_ms_ = 0; }
  void tick(int64_t ms) { idle_ms_ += ms < kLongestTick ? ms : kLongestTick; }

  bool expired() const { return idle_ms_ > limit_ms(); }
  int64_t limit_ms() const;
  // "emulating, 43 of 128 CTAs", "compiling"
  std::string where() const;

 private:
  protocol::Deadlines deadlines_;
  bool emulated_;
  protocol::Step step_ = protocol::Step::compiling;
  int64_t done_ = 0, total_ = 0;
  int64_t idle_ms_ = 0;
};

}  // namespace attnscope::worker
