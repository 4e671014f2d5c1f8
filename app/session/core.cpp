#include "session/core.h"

#include "catalog/devices.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kFrameMs = 16;  // at most about 60 snapshots a second
constexpr uint64_t kKeepMs = 500;  // from a change until it is written to disk
constexpr const char* kHeld = "waits until the GPU's counters are read";

std::vector<std::string> names_of(const std::vector<WorkerCommand>& workers) {
  std::vector<std::string> names;
  for (const WorkerCommand& worker : workers) names.push_back(worker.name);
  return names;
}

}  // namespace

SessionCore::SessionCore(uv_loop_t* loop, SessionOptions options, std::function<void(Shared<Snapshot>)> publish)
    : loop_(loop),
      options_(std::move(options)),
      publish_(std::move(publish)),
      publish_timer_(loop, [this] { publish_now(); }),
      keep_timer_(loop, [this] { write_journal(); }),
      watch_timer_(loop, [this] { start_watch(); }),
      answer_timer_(loop, [this] { check_answers(); }),
      devices_(names_of(options_.workers), {}) {
  const bool keeps = !options_.state_dir.empty() && options_.preset_dirs.size() > 1;
  if (keeps) snapshot_.user_preset_dir = options_.preset_dirs.back().string();
}

void SessionCore::start() {
  workers_.resize(options_.workers.size());
  for (size_t index = 0; index < workers_.size(); ++index)
    open_link(index);  // first, so that the worker starts while the files are read here
  answers_checked_at_ = uv_now(loop_);
  answer_timer_.start(0);
  auto foretold = catalog::load_devices(options_.assets_dir / "devices", options_.own_devices);
  for (const Failure& failure : foretold.failures) notices_.toast(failure);
  devices_ = DeviceTable(names_of(options_.workers), std::move(foretold.devices));
  for (size_t index = 0; index < workers_.size(); ++index)
    if (workers_[index].link->state() == WorkerState::lost) devices_.give_up(index, workers_[index].link->detail());
  open_store();
  load_kernels();
  restore_history();
  list_presets();
  list_sessions();
  watch_sessions();
  if (options_.watch_files) watch_folders();
  if (options_.first_experiment) start_first_experiment();
  publish_now();
}

void SessionCore::shut_down(std::function<void()> ended) {
  shutting_down_ = true;
  write_journal();
  if (!unkept_.empty() || !unkept_notes_.empty()) keep_what_waits();
  queue_.shut_down();
  jobs_.clear();
  watches_.clear();
  publish_now();
  auto left = std::make_shared<size_t>(workers_.size());
  if (workers_.empty()) return ended();
  for (Worker& worker : workers_)
    worker.link->shut_down([left, ended] {
      if (--*left == 0) ended();
    });
}

void SessionCore::dismiss_toast(uint64_t id) {
  notices_.dismiss(id);
  changed();
}

void SessionCore::note(LogLevel level, const std::string& text) {
  notices_.log(level, text);
  changed();
}

// Marks the state for publishing: at once if the last snapshot is old enough, otherwise as soon as it is.
void SessionCore::changed() {
  if (publish_timer_.running() || shutting_down_) return;
  const uint64_t since = uv_now(loop_) - published_at_;
  publish_timer_.start(since >= kFrameMs ? 0 : kFrameMs - since);
}

void SessionCore::publish_now() {
  publish_timer_.stop();
  published_at_ = uv_now(loop_);
  fill_snapshot();
  publish_(share(snapshot_));
  if ((journal_due_ || settings_due_) && !keep_timer_.running() && !shutting_down_) keep_timer_.start(kKeepMs);
}

void SessionCore::fill_snapshot() {
  Snapshot& s = snapshot_;
  ++s.version;
  s.focus = focus_.view();
  s.last_asked = focus_.last_asked();
  s.can_undo = focus_.can_undo();
  s.can_redo = focus_.can_redo();
  s.queue_waiting = queue_.unanswered();
  s.devices = devices_.all();
  s.workers.clear();
  for (const Worker& worker : workers_) {
    if (worker.removed) continue;
    WorkerStatus& status = s.workers.emplace_back(
        WorkerStatus{worker.link->name(), worker.link->state(), worker.link->detail(), {}, {}, false});
    status.waits = worker.link->waits();
    status.command = worker.link->command().argv;
    status.remote = worker.link->command().remote;
    status.trouble = worker.link->trouble();
    status.round_trip_ms = worker.link->round_trip_ms();
    status.gpus = worker.link->gpus();
    if (!worker.doing.empty() && worker.link->up()) status.detail = worker.doing;
    const auto flies = worker.lanes.in_flight();
    if (!flies || !is_timed(*flies)) status.hold = worker.hold;
    if (status.hold != 0 && !flies && !worker.lanes.idle()) status.detail = kHeld;
    if (const auto& hello = worker.link->hello()) {
      status.versions = hello->versions;
      status.devices = hello->devices;
    }
  }
  s.history = history_.view();
  s.log = notices_.lines();
  s.toasts = notices_.toasts();
  s.scans = scan_.view();
  s.tiles = views_.tiles();
  s.refused_views = views_.refused();
  s.listings = listings_.all();
  s.refused_listings = listings_.refused();
  s.preset_title = preset_.title;
  s.preset_note = preset_.note;
  s.preset_modified = preset_modified();
}

}  // namespace attnscope::session
