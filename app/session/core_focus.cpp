// A person's requests: focus, undo, history, queue, views.
#include <fmt/format.h>

#include "core/config.h"
#include "platform/clock.h"
#include "session/complete.h"
#include "session/core.h"

namespace attnscope::session {

// A request for a lost worker's device is refused, and the worker is retried at once.
void SessionCore::focus(const Draft& draft, const Gesture& gesture) {
  reconnect(devices_.far_worker(draft.device));
  ask({draft, gesture});
}

void SessionCore::rerun() {
  if (focus_.wanted().kernel.empty()) return;
  ask({.draft = focus_.wanted(), .gesture = {0, true, "run again"}, .again = true});
}

void SessionCore::ask(FocusLane::Request request) {
  snapshot_.selected.reset();
  const Resolution r = resolve(request.draft, shelf_, devices_, request.device_is_wish);
  if (r.failure)
    notices_.log(LogLevel::warning, r.failure->message);
  else if (!r.wait && !r.device_reason.empty())
    snapshot_.device_reason = r.device_reason;
  const FocusLane::Next next = focus_.ask(std::move(request), r);
  follow(next, r.place);
  if (next == FocusLane::Next::wait)
    focus_.progress(r.wait_for.empty() ? "starting the worker" : "waiting for worker " + r.wait_for, 0, 0);
}

void SessionCore::undo() {
  DeviceTable::Place place;
  follow(focus_.undo(devices_, place), place);
}

void SessionCore::redo() {
  DeviceTable::Place place;
  follow(focus_.redo(devices_, place), place);
}

// Acts on the focus lane's decision: ends the run of the previous experiment and runs the wanted one at `place`.
void SessionCore::follow(FocusLane::Next next, const DeviceTable::Place& place) {
  changed();
  if (next == FocusLane::Next::nothing) return;
  snapshot_.selected.reset();
  watch_timer_.stop();
  watch_.drop();
  cancel_everywhere(Lane::background);
  cancel_everywhere(Lane::focus);
  drop_scans();
  if (next != FocusLane::Next::wait && focus_.kernel()) journal_due_ = true;
  if (next != FocusLane::Next::run) return;
  const WorkerLink& link = *workers_[place.worker].link;
  if (!link.up())
    focus_.progress(place.worker == 0 ? "starting the worker" : "waiting for worker " + link.name(), 0, 0);
  const JobId id = next_id_++;
  focus_.started(id);
  submit(id, {Lane::focus, focus_.wanted(), focus_.wanted_hash(), place.worker, place.local_id});
}

void SessionCore::cancel() {
  if (focus_.release()) focus_.finish(Failure{Stage::cancelled, "cancelled", "Move a knob or run again."});
  cancel_everywhere(Lane::focus);
  changed();
}

void SessionCore::finish_focus(const Job& job, std::optional<Failure> failure) {
  const auto& link = *workers_[job.worker].link;
  if (!failure) failure = lack_of(focus_.own(), false, link.name());
  if (link.hello() && focus_.own().versions == Versions{}) focus_.apply({0, {link.hello()->versions}});
  auto observation = focus_.finish(std::move(failure));
  if (observation->printed) log_printed(*observation->printed, job.experiment.kernel);
  observation = with_known_watch(std::move(observation));
  if (!observation->failure || observation->failure->stage != Stage::cancelled) {
    const std::string config = short_text(job.experiment.config, *focus_.kernel());
    focus_.keep(observation,
                history_.add(HistoryEntry{0, observation, focus_.view().change, config, platform::wall_seconds()},
                             focus_.gesture()));
    keep_result(*observation);
  }
  if (options_.watch_configs && !observation->failure && !observation->watch) watch_later(std::move(observation));
  changed();
}

// Logs the lines that the kernel prints.
void SessionCore::log_printed(const Printed& printed, const std::string& kernel) {
  for (const std::string& line : printed.lines) notices_.log(LogLevel::info, kernel + " prints: " + line);
  if (printed.more > 0) notices_.log(LogLevel::info, fmt::format("{} prints {} times more", kernel, printed.more));
}

void SessionCore::select_history(uint64_t id) {
  const HistoryEntry* entry = history_.find(id);
  snapshot_.selected = entry ? std::optional(*entry) : std::nullopt;
  changed();
}

void SessionCore::queue(const QueueLane::Request& request) {
  reconnect(devices_.far_worker(request.draft.device));
  enqueue(request);
}

void SessionCore::enqueue(const QueueLane::Request& request) {
  if (shutting_down_) return request.answer->set_value(session_over());
  changed();
  const Resolution r = resolve(request.draft, shelf_, devices_, false);
  if (r.wait) return queue_.hold(request);
  if (r.failure) {
    Observation refused = blank_observation(r.experiment);
    refused.failure = r.failure;
    return request.answer->set_value(std::move(refused));
  }
  const bool all = request.watch == Watch::whole_grid;
  const bool needless = request.watch == Watch::explained;
  const bool watch =
      all || needless || request.watch == Watch::always || (request.watch == Watch::emulated && r.place.spec->emulated);
  const JobId id = next_id_++;
  queue_.place(id, r.experiment, watch && r.kernel->library.is_source(), request.answer);
  submit(
      id,
      {Lane::queue, r.experiment, hash_of(r.experiment), r.place.worker, r.place.local_id, {}, watch, all, needless});
}

// Continues requests that waited for devices, after a worker said hello or was lost.
void SessionCore::release_held() {
  if (auto held = focus_.release()) ask(std::move(*held));
  for (const QueueLane::Request& held : queue_.release()) enqueue(held);
  for (const ScanRequest& held : scan_.release()) scan(held);
}

void SessionCore::request_view(const ViewRequest& request) {
  const auto worker = views_.ask(request, focus_.running() ? focus_.wanted_hash() : "");
  if (!worker) return refuse_view(request, worker.error());
  if (*worker) submit(next_id_++, {Lane::view, {}, request.experiment_hash, **worker, {}, request});
}

void SessionCore::refuse_view(const ViewRequest& request, Failure why) {
  notices_.log(LogLevel::info, "no map: " + why.message);
  views_.refuse(request, std::move(why));
  changed();
}

}  // namespace attnscope::session
