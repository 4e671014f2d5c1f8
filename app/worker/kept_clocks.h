#pragma once
#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "core/sm_timeline.h"
#include "measure/clock_spans.h"

namespace attnscope::worker {

// What the clocks of a GPU say of an experiment's instrumented twin.
struct ClockedRun {
  measure::ClockSpans spans;
  ClockTwin twin;
};

// The last of them, so that another SM of the same launch can be looked at. Of one thread.
class KeptClocks {
 public:
  static constexpr size_t kMost = 4;  // 12 MB each at most

  void keep(std::string experiment_hash, std::shared_ptr<const ClockedRun> run) {
    runs_.emplace_front(std::move(experiment_hash), std::move(run));
    if (runs_.size() > kMost) runs_.pop_back();
  }
  std::shared_ptr<const ClockedRun> find(const std::string& experiment_hash) const {
    const auto found = std::ranges::find(runs_, experiment_hash, &Kept::first);
    return found == runs_.end() ? nullptr : found->second;
  }
  // The experiment runs again, and so does its twin.
  void drop(const std::string& experiment_hash) {
    runs_.remove_if([&](const Kept& one) { return one.first == experiment_hash; });
  }

 private:
  using Kept = std::pair<std::string, std::shared_ptr<const ClockedRun>>;
  std::list<Kept> runs_;  // latest first
};

}  // namespace attnscope::worker
