#include "session/snapshot.h"

#include <fmt/format.h>

#include "core/device_id.h"
#include "core/json.h"
#include "core/words.h"

namespace attnscope::session {
namespace {
constexpr WordTable<WorkerState, 5> kStates{{{WorkerState::starting, "starting"},
                                             {WorkerState::ready, "ready"},
                                             {WorkerState::busy, "busy"},
                                             {WorkerState::restarting, "restarting"},
                                             {WorkerState::lost, "lost"}}};
}  // namespace

std::string_view to_string(WorkerState state) { return word_of(kStates, state); }

const HistoryEntry& History::at(size_t index) const {
  // Every chunk but the last is full, and all have the same capacity.
  const size_t capacity = chunks.front()->entries.size();
  return chunks[index / capacity]->entries[index % capacity];
}

Shared<Json> no_settings() { return share(Json(Json::object())); }

std::string tile_key(const ViewRequest& request) {
  std::string key = fmt::format("{}/{}/{}.{}/{}-{}/{}x{}", request.experiment_hash, word_of(request.map), request.batch,
                                request.head, request.row_begin, request.row_end, request.width, request.height);
  if (request.target) key += fmt::format("/{}", request.target->ticket);
  return key;
}

const Kernel* find_kernel(const Snapshot& snapshot, const std::string& id) {
  return attnscope::find_kernel(*snapshot.kernels, id);
}

const DeviceSpec* find_device(const Snapshot& snapshot, const std::string& id) {
  for (const DeviceSpec& device : *snapshot.devices)
    if (device.id == id) return &device;
  return nullptr;
}

const WorkerStatus* worker_of(const Snapshot& snapshot, const std::string& id) {
  for (size_t i = 1; i < snapshot.workers.size(); ++i)
    if (DeviceId(id).is_of(snapshot.workers[i].name)) return &snapshot.workers[i];
  return snapshot.workers.empty() ? nullptr : &snapshot.workers.front();
}

bool is_up(const WorkerStatus& worker) {
  return worker.state == WorkerState::ready || worker.state == WorkerState::busy;
}

}  // namespace attnscope::session
