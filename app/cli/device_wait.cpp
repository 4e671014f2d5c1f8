#include "cli/device_wait.h"

#include <algorithm>

#include "cli/waiting_words.h"
#include "core/joined.h"

namespace attnscope::cli {
namespace {

using session::Snapshot;
using session::WorkerState;
using session::WorkerStatus;

// The worker of device `id`: "l4box/cuda:0" belongs to l4box, an id without a slash to the first worker.
const WorkerStatus* worker_of(const Snapshot& snapshot, const std::string& id) {
  const size_t slash = id.find('/');
  const std::string name = id.substr(0, std::min(slash, id.size()));
  for (size_t i = 1; i < snapshot.workers.size(); ++i)
    if (snapshot.workers[i].name == name) return &snapshot.workers[i];
  return snapshot.workers.empty() ? nullptr : &snapshot.workers.front();
}

// A worker's own name stands for its best device, no name for the first worker's.
const DeviceSpec* device_of(const Snapshot& snapshot, const std::string& id) {
  if (const DeviceSpec* exact = session::find_device(snapshot, id)) return exact;
  const DeviceSpec* best = nullptr;
  for (const DeviceSpec& spec : *snapshot.devices) {
    const bool of_worker = id.empty() ? spec.id.find('/') == std::string::npos : spec.id.starts_with(id + "/");
    if (of_worker && (!best || (best->emulated && !spec.emulated))) best = &spec;
  }
  return best;
}

}  // namespace

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

Result<WaitingSession::Found> WaitingSession::wait_for(const std::string& id) {
  WaitingWords words;
  std::unique_lock lock(mutex_);
  for (uint64_t seen = 0;; seen = changes_) {
    const auto snapshot = session_->snapshot();
    words.look(*snapshot);
    const WorkerStatus* worker = worker_of(*snapshot, id);
    const bool settled = worker && (worker->state == WorkerState::ready || worker->state == WorkerState::busy);
    if (settled) {
      if (const DeviceSpec* found = device_of(*snapshot, id)) return Found{*found, worker->versions};
      return fail(Stage::device, "there is no device " + id,
                  "Devices here: " + joined(*snapshot->devices, &DeviceSpec::id) + ".");
    }
    if (worker && worker->state == WorkerState::lost)
      return fail(Stage::device, "worker " + worker->name + " is not available: " + worker->detail,
                  "Check its command; `attnscope doctor` tries every worker that the settings name.");
    changed_.wait_for(lock, WaitingWords::kBetweenLooks, [&] { return changes_ != seen; });
  }
}

}  // namespace attnscope::cli
