#include "ui/hardware_desk.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "platform/process.h"
#include "session/run_once.h"
#include "ui/shown.h"

namespace attnscope::ui {
namespace {

constexpr int64_t kMostEmulatedMs = 60000;  // enough to count every CTA of an ordinary problem

constexpr const char* kEdited = "The kernel was edited since that run: run it again first.";

bool holds(const std::vector<session::WorkerCommand>& workers, const std::string& name) {
  return std::ranges::any_of(workers, [&](const session::WorkerCommand& one) { return one.name == name; });
}

Observation failed(Failure why) {
  Observation nothing;
  nothing.failure = std::move(why);
  return nothing;
}

}  // namespace

void HardwareDesk::add_worker(session::WorkerCommand profiles) {
  if (profiling_) profiling_->workers.push_back(std::move(profiles));
}

void HardwareDesk::remove_worker(const std::string& name) {
  if (profiling_) std::erase_if(profiling_->workers, [&](const auto& one) { return one.name == name; });
}

std::string HardwareDesk::refusal(const session::Snapshot& snapshot, const Experiment& shown) const {
  if (!profiling_) return "This window starts no worker that profiles.";
  const session::WorkerStatus* worker = session::worker_of(snapshot, shown.device);
  if (worker == nullptr) return "The run's device is not there.";
  if (!holds(profiling_->workers, worker->name))
    return "The worker " + worker->name +
           " cannot be told to profile: its command does not end with \"attnscope worker\".";
  const Kernel* kernel = session::find_kernel(snapshot, shown.kernel);
  if (kernel == nullptr || kernel->content_hash != shown.kernel_hash) return kEdited;
  if (worker->state == session::WorkerState::busy)
    return "Its worker is busy: profiling would disturb what it may time on the GPU.";
  return {};
}

void HardwareDesk::read(session::Session& session, const session::Snapshot& snapshot, const Experiment& experiment) {
  const session::WorkerStatus* worker = session::worker_of(snapshot, experiment.device);
  if (!profiling_ || reads() || worker == nullptr) return;
  stop_ = std::make_shared<std::atomic<bool>>(false);
  words_.reset();
  hash_ = hash_of(experiment);
  kernel_hash_ = experiment.kernel_hash;
  draft_ = experiment;
  draft_.measure.max_time_ms = std::max(draft_.measure.max_time_ms, kMostEmulatedMs);
  held_ = worker->name;
  session.hold_timing(held_, ++hold_);
}

void HardwareDesk::begin() {
  words_ = std::make_shared<Words>();
  const auto look = [words = words_, wake = wake_](const session::Snapshot& now) {
    {
      const std::lock_guard lock(words->mutex);
      words->text = busy_words(now);
    }
    wake();
  };
  try {
    came_ = std::async(std::launch::async, [options = *profiling_, draft = draft_, look, stop = stop_, wake = wake_] {
      auto seen = session::run_once(options, draft, session::Watch::never, look, stop.get());
      wake();
      return seen ? std::move(*seen) : failed(seen.error());
    });
  } catch (const std::system_error&) {
    keep(failed(platform::no_thread("reading hardware counters")));
  }
}

void HardwareDesk::cancel() {
  if (reads()) *stop_ = true;
}

void HardwareDesk::follow(session::Session& session, const session::Snapshot& snapshot) {
  if (!reads()) return;
  if (waits() && !*stop_) {
    const auto holder = std::ranges::find(snapshot.workers, held_, &session::WorkerStatus::name);
    if (holder != snapshot.workers.end() && holder->hold != hold_) return;
    begin();
  }
  if (came_.valid() && came_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  session.hold_timing(std::exchange(held_, {}), 0);
  if (!came_.valid() || *stop_) {  // it could not begin, or was cancelled
    if (came_.valid()) came_.get();
    hash_.clear();
    return;
  }
  Observation seen = came_.get();
  // The profiling session reads the kernel's file itself.
  if (!seen.failure && seen.experiment.kernel_hash != kernel_hash_)
    seen = failed({Stage::input, "the kernel was edited since that run", "Run it again first."});
  keep(std::move(seen));
}

void HardwareDesk::keep(Observation seen) {
  ++kept_ever_;
  const std::string hash = std::exchange(hash_, {});
  std::erase_if(kept_, [&](const auto& one) { return one.first == hash; });
  kept_.emplace_back(hash, std::move(seen));
  if (kept_.size() > kMostKept) kept_.pop_front();
}

std::string HardwareDesk::progress() const {
  if (!words_) return {};
  const std::lock_guard lock(words_->mutex);
  return words_->text;
}

const Observation* HardwareDesk::of(const std::string& experiment_hash) const {
  const auto found = std::ranges::find(kept_, experiment_hash, [](const auto& one) { return one.first; });
  return found == kept_.end() ? nullptr : &found->second;
}

std::string HardwareDesk::hash_of_run(const session::Shared<Observation>& run) {
  if (hashed_[0].first != run) std::swap(hashed_[0], hashed_[1]);
  if (hashed_[0].first != run) hashed_[0] = {run, hash_of(run->experiment)};
  return hashed_[0].second;
}

}  // namespace attnscope::ui
