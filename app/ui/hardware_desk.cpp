#include "ui/hardware_desk.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "platform/process.h"
#include "session/run_once.h"

namespace attnscope::ui {
namespace {

constexpr int64_t kMostEmulatedMs = 60000;  // so that every CTA of an ordinary problem is counted

std::string words_of(const session::Snapshot& snapshot) {
  for (const session::WorkerStatus& worker : snapshot.workers)
    if (worker.state == session::WorkerState::busy && !worker.detail.empty()) return worker.detail;
  return {};
}

Observation failed(Failure why) {
  Observation nothing;
  nothing.failure = std::move(why);
  return nothing;
}

}  // namespace

void HardwareDesk::read(const Experiment& experiment) {
  if (!profiling_ || reads()) return;
  stop_ = std::make_shared<std::atomic<bool>>(false);
  words_ = std::make_shared<Words>();
  hash_ = hash_of(experiment);
  kept_.erase(hash_);
  Draft draft = experiment;
  draft.measure.max_time_ms = std::max(draft.measure.max_time_ms, kMostEmulatedMs);
  const auto look = [words = words_, wake = wake_](const session::Snapshot& now) {
    {
      const std::lock_guard lock(words->mutex);
      words->text = words_of(now);
    }
    wake();
  };
  try {
    came_ = std::async(std::launch::async, [options = *profiling_, draft, look, stop = stop_, wake = wake_] {
      auto seen = session::run_once(options, draft, session::Watch::never, look, stop.get());
      wake();
      return seen ? std::move(*seen) : failed(seen.error());
    });
  } catch (const std::system_error&) {
    kept_[hash_] = failed(platform::no_thread("reading hardware counters"));
    hash_.clear();
  }
}

void HardwareDesk::cancel() {
  if (reads()) *stop_ = true;
}

void HardwareDesk::follow() {
  if (!reads() || came_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  Observation seen = came_.get();
  const std::string hash = std::exchange(hash_, {});
  if (*stop_) return;
  if (kept_.size() >= kMostKept) kept_.erase(kept_.begin());
  kept_[hash] = std::move(seen);
}

std::string HardwareDesk::progress() const {
  if (!words_) return {};
  const std::lock_guard lock(words_->mutex);
  return words_->text;
}

const Observation* HardwareDesk::of(const std::string& experiment_hash) const {
  const auto found = kept_.find(experiment_hash);
  return found == kept_.end() ? nullptr : &found->second;
}

}  // namespace attnscope::ui
