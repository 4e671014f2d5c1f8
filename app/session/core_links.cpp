// The workers' side: what is sent to them, and what comes back.
#include <fmt/format.h>

#include <algorithm>

#include "session/complete.h"
#include "session/core.h"

namespace attnscope::session {
namespace {

constexpr int64_t kPatience = 12;  // deadlines without progress, after which a supervisor ends a request in any case

protocol::Deadlines wire(const Deadlines& d) { return {d.compile_ms, d.emulated_ms, d.launch_ms}; }

LogLevel level_of(Severity level) {
  switch (level) {
    case Severity::info:
      return LogLevel::info;
    case Severity::warning:
      return LogLevel::warning;
    case Severity::error:
      return LogLevel::error;
  }
  return LogLevel::info;
}

}  // namespace

void SessionCore::link_up(size_t worker, const protocol::HelloReply& hello) {
  notices_.log(LogLevel::info,
               fmt::format("worker {} is ready: attnscope {}, NVRTC {}, {} devices", workers_[worker].link->name(),
                           hello.versions.app, hello.versions.nvrtc.empty() ? "none" : hello.versions.nvrtc,
                           hello.devices.size()));
  devices_.set_devices(worker, hello.devices, !hello.versions.driver.empty());
  carry_out(worker, workers_[worker].lanes.connected());
  release_held();
  changed();
}

void SessionCore::reconnect(const std::string& worker) {
  for (Worker& candidate : workers_)
    if (candidate.link->name() == worker) candidate.link->revive();
}

void SessionCore::link_down(size_t worker, const std::string& reason) {
  Worker& down = workers_[worker];
  notices_.log(LogLevel::warning, fmt::format("worker {} went away: {}; starting it again", down.link->name(), reason));
  down.doing.clear();
  down.answer.over();
  views_.forget(worker);
  carry_out(worker, down.lanes.disconnected());
  changed();
}

void SessionCore::link_lost(size_t worker, const std::string& reason) {
  notices_.toast(LogLevel::error, fmt::format("worker {} cannot be had: {}", workers_[worker].link->name(), reason),
                 "Run again to try once more.");
  devices_.give_up(worker, reason);
  carry_out(worker, workers_[worker].lanes.give_up());
  release_held();
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
  if (auto* need = std::get_if<protocol::Need>(&reply))
    take_need(worker, *need);
  else if (auto* progress = std::get_if<protocol::Progress>(&reply))
    take_progress(worker, *progress);
  else if (auto* part = std::get_if<protocol::Part>(&reply))
    take_part(*part);
  else if (auto* tile = std::get_if<protocol::TileMessage>(&reply))
    take_tile(std::move(*tile));
  else if (auto* done = std::get_if<protocol::Done>(&reply))
    take_done(worker, *done);
  else if (auto* log = std::get_if<protocol::Log>(&reply))
    note(level_of(log->level), workers_[worker].link->name() + ": " + log->text);
}

// What moves the request in flight on: another figure of progress, a part, a tile. Repeated progress, questions and log
// lines do not.
void SessionCore::note_answer(Worker& from, const protocol::Reply& reply) {
  if (from.lanes.in_flight() != protocol::id_of(reply)) return;
  if (const auto* progress = std::get_if<protocol::Progress>(&reply)) {
    if (from.progress && *from.progress == *progress) return;
    from.progress = *progress;
    from.answer.moved();
  } else if (std::holds_alternative<protocol::Part>(reply) || std::holds_alternative<protocol::TileMessage>(reply)) {
    from.answer.moved();
  } else if (std::holds_alternative<protocol::Done>(reply)) {
    from.answer.over();
  }
}

// A worker that does nothing for the request it holds is replaced, and the request ends.
void SessionCore::check_answers() {
  const uint64_t now = uv_now(loop_);
  const auto ms = static_cast<int64_t>(now - std::exchange(answers_checked_at_, now));
  for (Worker& worker : workers_) {
    const auto waited = worker.answer.tick(ms, worker.link->state() == WorkerState::ready && !worker.link->receiving());
    if (!waited) continue;
    const std::string reason =
        fmt::format("it took a request and did nothing for it for {:.3g} s", double(*waited) / 1000);
    worker.answer.over();
    const Lanes::Step step = worker.lanes.abandon();
    for (JobId id : step.lost)
      end_job(id, Failure{Stage::deadline, fmt::format("worker {} does not answer: {}", worker.link->name(), reason),
                          "Another one is started. Run again; the log has its last words."});
    for (JobId id : step.superseded) end_job(id, Failure{Stage::cancelled, "cancelled", ""});
    worker.link->replace(reason);
    changed();
  }
  if (!shutting_down_) answer_timer_.start(static_cast<uint64_t>(std::clamp(options_.answer_ms / 8, 20, 1000)));
}

void SessionCore::take_need(size_t worker, const protocol::Need& need) {
  for (const std::string& hash : need.hashes) {
    const auto kernel = shelf_.content(hash);
    if (!kernel) {
      note(LogLevel::error, workers_[worker].link->name() + " asks for a kernel that this session never had: " + hash);
      continue;  // its own deadline answers the request
    }
    workers_[worker].link->send(protocol::KernelContent{need.id, hash, kernel->source_name, kernel->manifest_name,
                                                        kernel->source, kernel->manifest});
  }
}

void SessionCore::take_progress(size_t worker, const protocol::Progress& progress) {
  auto found = jobs_.find(progress.id);
  if (found == jobs_.end()) return;
  const std::string step(protocol::to_string(progress.step));
  std::string& doing = workers_[worker].doing;
  doing = step + " " + found->second.experiment.kernel;
  if (progress.total > 0) doing += fmt::format(", {} of {} CTAs", progress.done, progress.total);
  if (focus_.is(progress.id)) focus_.progress(step, progress.done, progress.total);
  if (watch_.is(progress.id) && progress.total > 0)
    focus_.set_watch(WatchState::running, static_cast<double>(progress.done) / static_cast<double>(progress.total));
  changed();
}

void SessionCore::take_part(const protocol::Part& part) {
  auto found = jobs_.find(part.id);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  if (focus_.is(part.id)) {
    focus_.apply(part);
    if (has(part, &Observation::variant)) note_same_code();
    changed();
  } else if (job.lane == Lane::queue) {
    apply_part(job.own, part);
    job.own.device = job.experiment.device;
  } else if (job.lane == Lane::background) {
    apply_part(job.own, part);
  }
}

void SessionCore::take_tile(protocol::TileMessage message) {
  auto found = jobs_.find(message.id);
  if (found == jobs_.end()) return;
  message.tile.request.experiment_hash =
      found->second.hash;  // the worker knows the experiment by its own device's name
  views_.add(std::move(message.tile));
  changed();
}

void SessionCore::take_done(size_t worker, const protocol::Done& done) {
  Worker& from = workers_[worker];
  from.doing.clear();
  const bool was_cancelled = done.failure && done.failure->stage == Stage::cancelled;
  const Lanes::Step step = from.lanes.done(done.id, was_cancelled);
  if (step.answered) end_job(done.id, done.failure);
  carry_out(worker, step);
  changed();
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
      end_job(id, Failure{Stage::device, fmt::format("worker {} cannot be had: {}", name, link.detail()),
                          "Check the worker's command; run again to try once more."});
    else
      end_job(id, Failure{Stage::crash,
                          fmt::format("worker {} went away {} times while it had this experiment ({})", name,
                                      Lanes::kMaxAttempts, link.detail()),
                          "The log has its last words."});
  }
  for (JobId id : step.send)
    if (auto job = jobs_.find(id); job != jobs_.end()) send_job(worker, id, job->second);
}

void SessionCore::send_job(size_t worker, JobId id, Job& job) {
  WorkerLink& link = *workers_[worker].link;
  const Deadlines& deadlines = options_.deadlines;
  const int64_t longest = std::max({deadlines.compile_ms, deadlines.emulated_ms, deadlines.launch_ms});
  workers_[worker].answer.sent(options_.answer_ms,
                               options_.answer_ms + kPatience * longest + job.experiment.measure.max_time_ms);
  workers_[worker].progress.reset();
  if (job.lane == Lane::view) return link.send(protocol::View{id, views_.on_wire(job.view)});
  Experiment experiment = job.experiment;
  experiment.device = job.place.local_id;
  if (job.lane == Lane::background) {
    job.own = *job.watched;  // what the watch finds out is added to it
    job.own.watch.reset();
    if (watch_.is(id)) focus_.set_watch(WatchState::running);
    return link.send(protocol::Watch{id, std::move(experiment), wire(options_.deadlines)});
  }
  views_.ran(job.hash, worker, hash_of(experiment));
  if (job.lane == Lane::queue) job.own = blank_observation(job.experiment, job.hash);
  if (focus_.is(id) && job.sent_before) focus_.restart();
  if (focus_.is(id)) focus_.progress("starting", 0, 0);
  std::optional<ViewRequest> first_view;
  if (job.lane == Lane::focus) first_view = views_.first_of(job.experiment, job.hash);
  if (first_view) {
    job.view = *first_view;
    first_view = views_.on_wire(job.view);
  }
  job.sent_before = true;
  link.send(protocol::Run{id, std::move(experiment), wire(options_.deadlines), std::move(first_view), job.watch});
}

// The one end of every job.
void SessionCore::end_job(JobId id, std::optional<Failure> failure) {
  auto node = jobs_.extract(id);
  if (node.empty()) return;
  Job& job = node.mapped();
  if (!job.view.experiment_hash.empty()) views_.over(job.view);
  const std::string& worker = workers_[job.place.worker].link->name();
  switch (job.lane) {
    case Lane::focus:
      if (!focus_.is(id)) break;
      if (!failure) failure = lack_of(focus_.own(), false, worker);
      finish_focus(job, std::move(failure));
      break;
    case Lane::view:
      if (failure && failure->stage != Stage::cancelled) refuse_view(job.view, std::move(*failure));
      break;
    case Lane::queue: {
      if (!failure) failure = lack_of(job.own, job.watch && job.kernel->library.empty(), worker);
      if (failure) job.own.failure = std::move(failure);
      const auto& hello = workers_[job.place.worker].link->hello();
      if (hello && job.own.versions == Versions{}) job.own.versions = hello->versions;
      keep_result(job.own);
      job.answer->set_value(std::move(job.own));
      break;
    }
    case Lane::background:
      if (watch_.is(id)) finish_watch(job, std::move(failure));
      break;
  }
}

}  // namespace attnscope::session
