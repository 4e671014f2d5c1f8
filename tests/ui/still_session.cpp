#include "ui/still_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "catalog/devices.h"
#include "core/json.h"
#include "support/temp_dir.h"

namespace attnscope::ui {
namespace {

constexpr double kLongAgo = 1000035000;  // 9 September 2001 in almost every time zone

std::filesystem::path source() { return ATTNSCOPE_SOURCE_DIR; }

std::shared_ptr<const Observation> recording(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Observation>> read;
  if (const auto found = read.find(name); found != read.end()) return found->second;
  const std::filesystem::path file = source() / "tests/data/observations" / (name + ".json");
  const auto json = parse_json(testing_support::read_text(file), file.string());
  auto observation = json ? observation_from_json(*json, file.string()) : Result<Observation>(fail(json.error()));
  if (!observation) {
    ADD_FAILURE() << observation.error().message;
    return std::make_shared<Observation>();
  }
  return read[name] = std::make_shared<Observation>(std::move(*observation));
}

const std::vector<Kernel>& kernels() {
  static std::vector<Kernel> kept;
  if (!kept.empty()) return kept;
  for (Kernel& kernel : catalog::load_catalog({source() / "kernels"}).kernels) {
    if (kernel.id != "tiled" && kernel.id != "minimal") continue;
    kernel.story = "One CTA computes the output of BLOCK_M query rows and walks the keys in tiles of BLOCK_N rows.";
    kernel.source = "// The first line.\n__global__ void attention(const half* q, half* out) {\n  out[0] = q[0];\n}\n";
    kept.push_back(std::move(kernel));
  }
  return kept;
}

}  // namespace

StillSession::StillSession(session::Snapshot snapshot)
    : now_(std::make_shared<const session::Snapshot>(std::move(snapshot))) {}

session::Shared<session::Snapshot> StillSession::snapshot() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

void StillSession::change(const std::function<void(session::Snapshot&)>& how) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<session::Snapshot>(*now_);
  ++next->version;
  how(*next);
  now_ = std::move(next);
}

void StillSession::show(session::Snapshot snapshot) {
  change([&](session::Snapshot& next) {
    snapshot.version = next.version;
    snapshot.tiles.insert(next.tiles.begin(), next.tiles.end());
    next = std::move(snapshot);
  });
}

void StillSession::hold_timing(std::string worker, uint64_t hold) {
  change([&](session::Snapshot& next) {
    for (session::WorkerStatus& one : next.workers)
      if (one.name == worker && (!times || hold == 0)) one.hold = hold;
  });
}

// Values over four decades, the largest at the upper left.
void StillSession::request_view(ViewRequest request) {
  auto made = std::make_shared<Tile>();
  if (tile != nullptr) {
    *made = *tile;
  } else {
    made->width = std::max(request.width, 1);
    made->height = std::max(request.height, 1);
    for (int y = 0; y < made->height; ++y)
      for (int x = 0; x < made->width; ++x) made->values.push_back(0.5f / static_cast<float>((1 + x) * (1 + y)));
    made->ready_rows.assign(static_cast<size_t>(made->height), 1);
  }
  made->request = request;
  change([&](session::Snapshot& next) { next.tiles[session::tile_key(request)] = std::move(made); });
}

session::Snapshot snapshot_after(const std::vector<std::string>& recordings) {
  session::Snapshot snapshot;
  snapshot.version = 1;
  snapshot.kernels = std::make_shared<const std::vector<Kernel>>(kernels());
  snapshot.kernel_failures = std::make_shared<const std::vector<Failure>>();
  snapshot.last_asked = std::make_shared<const session::LastAskedByKernel>();
  static const std::vector<DeviceSpec> kAll = catalog::load_devices(source() / "assets/devices").devices;
  std::vector<DeviceSpec> devices = kAll;
  std::erase_if(devices, [](const DeviceSpec& device) { return device.id != "emulated:l4"; });
  snapshot.devices = std::make_shared<const std::vector<DeviceSpec>>(std::move(devices));
  snapshot.presets = std::make_shared<const std::vector<session::PresetItem>>();
  snapshot.workers = {{"local", session::WorkerState::ready, "", {}, *snapshot.devices}};
  snapshot.log = std::make_shared<const std::vector<session::LogLine>>();
  snapshot.settings = std::make_shared<const Json>(Json::object());
  snapshot.device_reason = "No GPU was found, so the kernel is emulated.";
  auto chunk = std::make_shared<session::HistoryChunk>();
  for (const std::string& name : recordings) {
    const auto observation = recording(name);
    const Experiment& experiment = observation->experiment;
    const Kernel* kernel = session::find_kernel(snapshot, experiment.kernel);
    const uint64_t id = chunk->entries.size() + 1;
    chunk->entries.push_back({id, observation, id == 1 ? "" : "change " + std::to_string(id),
                              kernel != nullptr ? short_text(experiment.config, *kernel) : "", kLongAgo});
  }
  session::Focus& focus = snapshot.focus;
  const session::HistoryEntry& last = chunk->entries.back();
  focus.wanted = last.observation->experiment;
  focus.wanted_hash = hash_of(focus.wanted);
  focus.change = last.change;
  focus.shown = last.observation;
  focus.run = last.id;
  std::fill_n(focus.parts, session::kParts, session::PartState::fresh);
  std::fill_n(focus.part_hash, session::kParts, focus.wanted_hash);
  snapshot.history = {{chunk}, chunk->entries.size()};
  return snapshot;
}

void keep_parts(session::Snapshot& snapshot, const char* from) {
  session::Focus& focus = snapshot.focus;
  for (int part = 0; part < session::kParts; ++part) {
    focus.parts[part] = session::PartState::kept;
    focus.part_from[part] = from;
    focus.part_hash[part] = hash_of(focus.shown->experiment);
  }
}

session::Snapshot snapshot_of_a_refusal() {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m64_w4"});
  session::Focus& focus = snapshot.focus;
  focus.failure = focus.shown->failure;
  focus.shown = snapshot.history.at(0).observation;
  focus.run = 1;
  keep_parts(snapshot, "BLOCK_M=32");
  return snapshot;
}

session::Snapshot on_a_gpu(session::Snapshot snapshot, const std::string& kernel_hash) {
  std::vector<DeviceSpec> devices = *snapshot.devices;
  devices.push_back(devices.front());
  devices.back().id = "cuda:0";
  devices.back().emulated = false;
  snapshot.devices = session::share(std::move(devices));
  auto chunk = std::make_shared<session::HistoryChunk>(*snapshot.history.chunks.front());
  auto seen = std::make_shared<Observation>(*chunk->entries.back().observation);
  seen->experiment.device = seen->device = "cuda:0";
  if (!kernel_hash.empty()) seen->experiment.kernel_hash = kernel_hash;
  chunk->entries.back().observation = seen;
  snapshot.history.chunks = {chunk};
  snapshot.focus.shown = seen;
  snapshot.focus.wanted = seen->experiment;
  snapshot.focus.wanted_hash = hash_of(seen->experiment);
  std::fill_n(snapshot.focus.part_hash, session::kParts, snapshot.focus.wanted_hash);
  return snapshot;
}

void revise_runs(session::Snapshot& snapshot, const std::function<void(uint64_t run, Observation&)>& change) {
  auto chunk = std::make_shared<session::HistoryChunk>(*snapshot.history.chunks.front());
  for (session::HistoryEntry& entry : chunk->entries) {
    auto seen = std::make_shared<Observation>(*entry.observation);
    seen->experiment.kernel_hash = session::find_kernel(snapshot, seen->experiment.kernel)->content_hash;
    change(entry.id, *seen);
    entry.observation = std::move(seen);
  }
  snapshot.focus.shown = chunk->entries.back().observation;
  snapshot.history.chunks = {chunk};
}

}  // namespace attnscope::ui
