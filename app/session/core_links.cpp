// Messages to and from workers.
#include <fmt/format.h>

#include <algorithm>

#include "session/complete.h"
#include "session/core.h"

namespace attnscope::session {
namespace {

constexpr int64_t kPatience = 12;  // deadlines without progress; by then a supervisor has ended the request
constexpr uint64_t kScanProgressMs = 1000;

}  // namespace

void SessionCore::link_up(size_t worker, const protocol::HelloReply& hello) {
  const Versions& versions = hello.versions;
  notices_.log(LogLevel::info,
               fmt::format("worker {} is ready: attnscope {}, NVRTC {}, {} devices", workers_[worker].link->name(),
                           versions.app, versions.nvrtc.empty() ? "none" : versions.nvrtc, hello.devices.size()));
  devices_.set_devices(worker, hello.devices, !versions.driver.empty());
  carry_out(worker, workers_[worker].lanes.connected());
  release_held();
  continue_scan();
  changed();
}

Result<void> check_command(const WorkerCommand& worker) {
  if (worker.argv.empty() || worker.argv.front().empty())
    return fail(Stage::input, "worker " + worker.name + " has no command", "Give the program to start.");
  return {};
}

void SessionCore::open_link(size_t worker) {
  workers_[worker].link = std::make_unique<WorkerLink>(
      loop_, worker, options_.workers[worker], WorkerLink::Patience{options_.silence_ms, options_.connect_ms}, *this);
  workers_[worker].link->start();
}

void SessionCore::reconnect(const std::string& worker) {
  for (Worker& candidate : workers_)
    if (candidate.link->name() == worker && !candidate.removed) candidate.link->revive();
}

void SessionCore::add_worker(const WorkerCommand& command) {
  const bool taken = std::ranges::any_of(
      workers_, [&](const Worker& other) { return !other.removed && other.link->name() == command.name; });
  if (const auto able = check_command(command); taken || !able) {
    notices_.toast(taken ? Failure{Stage::input, "there is already a worker " + command.name, "Give it another name."}
                         : able.error());
    return changed();
  }
  options_.workers.push_back(command);
  workers_.emplace_back();
  devices_.add_worker(command.name);
  open_link(workers_.size() - 1);
  changed();
}

void SessionCore::remove_worker(const std::string& worker) {
  for (size_t at = 1; at < workers_.size(); ++at) {  // the first one has the devices without a prefix
    Worker& gone = workers_[at];
    if (gone.removed || gone.link->name() != worker) continue;
    gone.removed = true;
    gone.link->dismiss();
    devices_.remove_worker(at);
    notices_.log(LogLevel::info, "worker " + worker + " was removed");
  }
  changed();
}

void SessionCore::hold_timing(const std::string& worker, uint64_t hold) {
  for (size_t at = 0; at < workers_.size(); ++at) {
    Worker& held = workers_[at];
    if (held.link->name() != worker || held.hold == hold) continue;
    held.hold = hold;
    carry_out(at,
              held.lanes.hold(hold != 0 ? [this](JobId id) { return is_timed(id); } : std::function<bool(JobId)>()));
  }
  changed();
}

// True if the job is timed on a GPU. Maps and listings time nothing, and an emulated device's time is modelled.
bool SessionCore::is_timed(JobId id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.lane == Lane::view) return false;
  const DeviceSpec* spec = devices_.place_of(found->second.experiment.device).spec;
  return spec == nullptr || !spec->emulated;
}

void SessionCore::link_down(size_t worker, const std::string& reason) {
  Worker& down = workers_[worker];
  if (!down.removed)
    notices_.log(LogLevel::warning,
                 fmt::format("worker {} went away: {}; starting it again", down.link->name(), reason));
  down.doing.clear();
  down.answer.over();
  views_.forget(worker);
  const bool gave_back = give_scan_back(worker, reason);
  carry_out(worker, down.lanes.disconnected());
  if (gave_back) carry_out(worker, down.lanes.cancel(Lane::scan));
  continue_scan();
  changed();
}

void SessionCore::link_lost(size_t worker, const std::string& reason) {
  if (!workers_[worker].removed)
    notices_.toast(LogLevel::error,
                   fmt::format("worker {} is not available: {}", workers_[worker].link->name(), reason),
                   "Run again to try once more.");
  devices_.give_up(worker, reason);
  carry_out(worker, workers_[worker].lanes.give_up());
  release_held();
  continue_scan();
  changed();
}

void SessionCore::link_changed(size_t worker) {
  if (workers_[worker].link && workers_[worker].link->state() != WorkerState::busy) workers_[worker].doing.clear();
  changed();
}

void SessionCore::link_said(size_t worker, const std::string& line) {
  note(LogLevel::info, workers_[worker].link->name() + ": " + line);
}

void SessionCore::link_reply(size_t worker, protocol::Reply reply) {
  if (shutting_down_) return;
  note_answer(workers_[worker], reply);
  std::visit([&](auto& message) { take(worker, message); }, reply);
}

// The request ends with a failure that names the part, and the worker starts another executor, because this one is not
// trusted. A worker that sends parts of a request it does not hold is replaced.
void SessionCore::link_unreadable(size_t worker, JobId id, const std::string& why) {
  Worker& from = workers_[worker];
  if (from.lanes.in_flight() != id) return from.link->replace(why);
  const Failure failure{Stage::protocol, fmt::format("worker {} sent what cannot be read: {}", from.link->name(), why),
                        "Its executor is started again. Run again; if it happens again, report it with this config."};
  from.lanes.answered_here();
  from.answer.asked_to_stop();
  from.link->send(protocol::Restart{next_id_++, id, failure});
  end_job(id, failure);
  changed();
}

// Notes progress on the request in flight: a new figure, a part, a tile. Repeated progress, questions and log lines do
// not count.
void SessionCore::note_answer(Worker& from, const protocol::Reply& reply) {
  if (from.lanes.in_flight() != protocol::id_of(reply)) return;
  if (const auto* progress = std::get_if<protocol::Progress>(&reply)) {
    if (from.progress && *from.progress == *progress) return;
    from.progress = *progress;
    from.answer.moved();
  } else if (std::holds_alternative<protocol::Part>(reply) || std::holds_alternative<protocol::TileMessage>(reply) ||
             std::holds_alternative<protocol::ListingMessage>(reply)) {
    from.answer.moved();
  } else if (std::holds_alternative<protocol::Done>(reply)) {
    from.answer.over();
  }
}

// Replaces a worker that makes no progress on its request, and ends the request.
void SessionCore::check_answers() {
  const uint64_t now = uv_now(loop_);
  const auto ms = static_cast<int64_t>(now - std::exchange(answers_checked_at_, now));
  for (Worker& worker : workers_) {
    const auto waited = worker.answer.tick(ms, worker.link->state() == WorkerState::ready && !worker.link->receiving());
    if (!waited) continue;
    const std::string reason =
        fmt::format("it took a request and did nothing for it for {:.3g} s", double(*waited) / 1000);
    worker.answer.over();
    const auto index = static_cast<size_t>(&worker - workers_.data());
    const bool gave_back = give_scan_back(index, reason);
    const Lanes::Step step = worker.lanes.abandon();
    for (JobId id : step.lost)
      end_job(id, Failure{Stage::deadline, fmt::format("worker {} does not answer: {}", worker.link->name(), reason),
                          "Another one is started. Run again; the log has its last words."});
    for (JobId id : step.superseded) end_job(id, Failure{Stage::cancelled, "cancelled", ""});
    if (gave_back) carry_out(index, worker.lanes.cancel(Lane::scan));
    worker.link->replace(reason);
    changed();
  }
  if (!shutting_down_) answer_timer_.start(static_cast<uint64_t>(std::clamp(options_.answer_ms / 8, 20, 1000)));
}

void SessionCore::take(size_t worker, const protocol::Need& need) {
  WorkerLink& link = *workers_[worker].link;
  for (const std::string& hash : need.hashes) {
    if (const auto kernel = shelf_.content(hash))
      link.send(protocol::KernelContent{need.id, hash, kernel->source_name, kernel->manifest_name, kernel->source,
                                        kernel->manifest});
    else  // the worker's own deadline answers the request
      note(LogLevel::error, link.name() + " asks for a kernel that this session never had: " + hash);
  }
}

void SessionCore::take(size_t worker, const protocol::Progress& progress) {
  const auto job = jobs_.find(progress.id);
  if (job == jobs_.end()) return;
  const std::string step(to_string(progress.step));
  std::string& doing = workers_[worker].doing;
  doing = step + " " + job->second.experiment.kernel;
  if (progress.total > 0) doing += fmt::format(", {} of {} CTAs", progress.done, progress.total);
  if (focus_.is(progress.id)) focus_.progress(step, progress.done, progress.total);
  if (watch_.is(progress.id) && progress.total > 0)
    focus_.set_watch(WatchState::running, static_cast<double>(progress.done) / static_cast<double>(progress.total));
  // Only the workers dialog shows a scan's progress, and each snapshot costs a frame. Without a GPU the frame is drawn
  // by the CPU that emulates.
  if (job->second.lane != Lane::scan || uv_now(loop_) - published_at_ >= kScanProgressMs) changed();
}

void SessionCore::take(size_t, const protocol::Part& part) {
  focus_.take_part(part);
  queue_.take_part(part);
  watch_.take_part(part);
  scan_.take_part(part);
  changed();
}

void SessionCore::take(size_t, protocol::TileMessage& message) {
  const auto job = jobs_.find(message.id);
  if (job == jobs_.end()) return;
  // The worker's hash is another one, because it uses its own device id.
  message.tile.request.experiment_hash = job->second.hash;
  views_.add(std::move(message.tile));
  changed();
}

void SessionCore::take(size_t worker, const protocol::Done& done) {
  Worker& from = workers_[worker];
  from.doing.clear();
  const bool was_cancelled = done.failure && done.failure->stage == Stage::cancelled;
  const Lanes::Step step = from.lanes.done(done.id, was_cancelled);
  if (step.answered) end_job(done.id, done.failure);
  carry_out(worker, step);
  changed();
}

void SessionCore::take(size_t worker, const protocol::Log& log) {
  note(log.level, workers_[worker].link->name() + ": " + log.text);
}

void SessionCore::submit(JobId id, Job job) {
  const Job& placed = jobs_.emplace(id, std::move(job)).first->second;
  const size_t worker = placed.worker;
  carry_out(worker, workers_[worker].lanes.ask(placed.lane, id));
  workers_[worker].link->revive();
}

void SessionCore::cancel_everywhere(Lane lane) {
  for (size_t worker = 0; worker < workers_.size(); ++worker) carry_out(worker, workers_[worker].lanes.cancel(lane));
}

void SessionCore::carry_out(size_t worker, const Lanes::Step& step) {
  WorkerLink& link = *workers_[worker].link;
  for (JobId id : step.cancel) {
    workers_[worker].answer.asked_to_stop();
    link.send(protocol::Cancel{next_id_++, id});
  }
  for (JobId id : step.superseded) end_job(id, Failure{Stage::cancelled, "cancelled before it was sent", ""});
  for (JobId id : step.lost) {
    const std::string name = link.name();
    if (link.state() == WorkerState::lost)
      end_job(id, Failure{Stage::device, fmt::format("worker {} is not available: {}", name, link.detail()),
                          "Check the worker's command; run again to try once more."});
    else
      end_job(id, Failure{Stage::crash,
                          fmt::format("worker {} went away {} times while it had this experiment ({})", name,
                                      Lanes::kMaxAttempts, link.detail()),
                          "The log has its last words."});
  }
  for (JobId id : step.send)
    if (auto job = jobs_.find(id); job != jobs_.end()) send_job(id, job->second);
}

void SessionCore::send_job(JobId id, Job& job) {
  Worker& worker = workers_[job.worker];
  const protocol::Deadlines& deadlines = options_.deadlines;
  const int64_t longest = std::max({deadlines.compile_ms, deadlines.emulated_ms, deadlines.launch_ms});
  worker.answer.sent(options_.answer_ms, options_.answer_ms + kPatience * longest + job.experiment.measure.max_time_ms);
  worker.progress.reset();
  if (job.code) return send_code(id, job);
  if (job.lane == Lane::view) return worker.link->send(protocol::View{id, views_.on_wire(job.view)});
  Experiment experiment = job.experiment;
  experiment.device = job.device;
  if (job.lane == Lane::background) {
    watch_.restart();
    focus_.set_watch(WatchState::running);
    return worker.link->send(protocol::Watch{id, std::move(experiment), deadlines});
  }
  if (job.lane == Lane::scan) {
    scan_.restart(id);
    return worker.link->send(
        protocol::Run{id, std::move(experiment), deadlines, std::nullopt, job.watch, std::nullopt, job.among});
  }
  views_.ran(job.hash, job.worker, hash_of(experiment));
  listings_.ran(job.hash);
  if (job.lane == Lane::queue) queue_.restart(id);
  if (focus_.is(id)) {
    focus_.restart();
    focus_.progress("starting", 0, 0);
  }
  std::optional<ViewRequest> first_view;
  if (job.lane == Lane::focus) first_view = views_.first_of(job.experiment, job.hash);
  if (first_view) {
    job.view = *first_view;
    first_view = views_.on_wire(job.view);
  }
  const std::optional<bool> all = job.watch_all ? std::optional(true) : std::nullopt;
  const std::optional<bool> needless = job.needless ? std::optional(true) : std::nullopt;
  worker.link->send(protocol::Run{id, std::move(experiment), deadlines, std::move(first_view), job.watch, all,
                                  std::nullopt, needless});
}

// The only function in which a job ends.
void SessionCore::end_job(JobId id, std::optional<Failure> failure) {
  auto node = jobs_.extract(id);
  if (node.empty()) return;
  const Job& job = node.mapped();
  if (job.code) return end_code(job.hash, std::move(failure));
  if (!job.view.experiment_hash.empty()) views_.over(job.view);
  switch (job.lane) {
    case Lane::focus:
      if (focus_.is(id)) finish_focus(job, std::move(failure));
      break;
    case Lane::view:
      if (failure && failure->stage != Stage::cancelled) refuse_view(job.view, std::move(*failure));
      break;
    case Lane::queue: {
      const WorkerLink& link = *workers_[job.worker].link;
      const auto ended =
          queue_.finish(id, std::move(failure), link.name(), link.hello() ? link.hello()->versions : Versions{});
      keep_result(ended.observation);
      ended.answer->set_value(ended.observation);
      break;
    }
    case Lane::background:
      listings_.reconsider(job.hash);  // the watch of a GPU's run emulates it, and a timeline needs an emulated run
      if (watch_.is(id)) finish_watch(std::move(failure));
      break;
    case Lane::scan:
      if (scan_.is(id)) finish_scan(id, job, std::move(failure));
      break;
  }
}

}  // namespace attnscope::session
