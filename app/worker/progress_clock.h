#pragma once
#include <cstdint>
#include <string>

#include "protocol/message.h"

namespace attnscope::worker {

// Measures how long an executor's request has made no progress, on the supervisor's own clock. Time is added in small
// ticks, so that a pause of the supervisor does not count. Of each tick only the executor's own share counts, so that a
// run on a machine that is busy with other work is not ended. After kPatience times the deadline by the clock the run
// ends anyway.
class ProgressClock {
 public:
  static constexpr int64_t kLongestTick = 200;  // ms
  static constexpr int64_t kPatience = 12;

  ProgressClock(protocol::Deadlines deadlines, bool emulated) : deadlines_(deadlines), emulated_(emulated) {}

  // Reports progress: a new step, or more of it done. The same figures again are not progress.
  void on_progress(const protocol::Progress& progress);
  void on_final_part() { idle_ms_ = wall_ms_ = 0; }
  // `own_share`: platform::own_share of the executor. A GPU run's share is 1, however busy the processors are.
  void tick(int64_t ms, double own_share = 1) {
    const auto counted = static_cast<double>(ms < kLongestTick ? ms : kLongestTick);
    wall_ms_ += counted;
    idle_ms_ += on_gpu() ? counted : counted * own_share;
  }

  bool expired() const {
    const auto limit = static_cast<double>(limit_ms());
    return idle_ms_ > limit || wall_ms_ > kPatience * limit;
  }
  int64_t idle_ms() const { return static_cast<int64_t>(wall_ms_); }  // by the clock
  bool emulating() const {
    return step_ == protocol::Step::watching || (emulated_ && step_ == protocol::Step::emulating);
  }
  int64_t limit_ms() const;
  // "emulating, 43 of 128 CTAs", "compiling"
  std::string where() const;

 private:
  bool on_gpu() const { return !emulated_ && step_ != protocol::Step::compiling && step_ != protocol::Step::watching; }

  protocol::Deadlines deadlines_;
  bool emulated_;
  protocol::Step step_ = protocol::Step::compiling;
  int64_t done_ = 0, total_ = 0;
  double idle_ms_ = 0;  // the executor's own time
  double wall_ms_ = 0;  // by the clock
};

}  // namespace attnscope::worker
