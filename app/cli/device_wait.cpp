#include "cli/device_wait.h"

#include <algorithm>

#include "cli/waiting_words.h"
#include "core/device_id.h"
#include "core/joined.h"

namespace attnscope::cli {
namespace {

using session::Snapshot;
using session::WorkerState;
using session::WorkerStatus;

}  // namespace

const DeviceSpec* device_of(const Snapshot& snapshot, const std::string& id) {
  if (const DeviceSpec* exact = session::find_device(snapshot, id)) return exact;
  const DeviceSpec* best = nullptr;
  for (const DeviceSpec& spec : *snapshot.devices) {
    if (DeviceId(spec.id).worker == id && (!best || (best->emulated && !spec.emulated))) best = &spec;
  }
  return best;
}

Result<std::unique_ptr<WaitingSession>> WaitingSession::start(session::SessionOptions options) {
  options.first_experiment = false;
  auto waiting = std::make_unique<WaitingSession>();
  auto session = session::Session::start(std::move(options), [self = waiting.get()] {
    const std::lock_guard lock(self->mutex_);
    ++self->changes_;
    self->changed_.notify_all();
  });
  if (!session) return fail(session.error());
  waiting->session_ = std::move(*session);
  return waiting;
}

std::shared_ptr<const Snapshot> WaitingSession::wait_until(const std::function<bool(const Snapshot&)>& holds) {
  WaitingWords words;
  std::unique_lock lock(mutex_);
  for (uint64_t seen = 0;; seen = changes_) {
    auto snapshot = session_->snapshot();
    words.look(*snapshot);
    if (holds(*snapshot)) return snapshot;
    changed_.wait_for(lock, WaitingWords::kBetweenLooks, [&] { return changes_ != seen; });
  }
}

Result<WaitingSession::Found> WaitingSession::wait_for(const std::string& id) {
  const auto snapshot = wait_until([&](const Snapshot& now) {
    const WorkerStatus* worker = worker_of(now, id);
    return worker != nullptr && (is_up(*worker) || worker->state == WorkerState::lost);
  });
  const WorkerStatus* worker = worker_of(*snapshot, id);
  if (worker->state == WorkerState::lost)
    return fail(Stage::device, "worker " + worker->name + " is not available: " + worker->detail,
                "Check its command; `attnscope doctor` tries every worker that the settings name.");
  if (const DeviceSpec* found = device_of(*snapshot, id)) return Found{*found, worker->versions};
  return fail(Stage::device, "there is no device " + id,
              "Devices here: " + joined(*snapshot->devices, &DeviceSpec::id) + ".");
}

}  // namespace attnscope::cli
