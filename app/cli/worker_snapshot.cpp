#include "cli/worker_snapshot.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "cli/waiting_words.h"

namespace attnscope::cli {
namespace {

bool all_have_answered(const session::Snapshot& snapshot) {
  return !snapshot.workers.empty() &&
         std::none_of(snapshot.workers.begin(), snapshot.workers.end(), [](const session::WorkerStatus& worker) {
           return worker.devices.empty() && worker.state != session::WorkerState::lost;
         });
}

}  // namespace

Result<std::shared_ptr<const session::Snapshot>> snapshot_with_devices(session::SessionOptions options,
                                                                       std::optional<std::chrono::seconds> limit) {
  options.first_experiment = false;
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t changes = 0;
  auto session = session::Session::start(options, [&] {
    const std::lock_guard lock(mutex);
    ++changes;
    changed.notify_one();
  });
  if (!session) return fail(session.error());
  const auto end = std::chrono::steady_clock::now() + limit.value_or(std::chrono::hours(24));
  WaitingWords words;
  std::unique_lock lock(mutex);
  for (;;) {
    const uint64_t seen = changes;
    auto snapshot = (*session)->snapshot();
    if (!limit) words.look(*snapshot);  // with a limit, the caller reports who has not answered
    if (all_have_answered(*snapshot) || std::chrono::steady_clock::now() >= end) {
      lock.unlock();  // the session reports changes until it has ended
      return snapshot;
    }
    const auto look = std::min(end, std::chrono::steady_clock::now() + WaitingWords::kBetweenLooks);
    changed.wait_until(lock, look, [&] { return changes != seen; });
  }
}

}  // namespace attnscope::cli
