// What a person asks for: focus, undo, history, queue, views.
#include <fmt/format.h>

#include <algorithm>

#include "core/config.h"
#include "platform/clock.h"
#include "session/complete.h"
#include "session/core.h"
#include "session/naming.h"

namespace attnscope::session {
namespace {

const Failure kCancelled{Stage::cancelled, "cancelled", "Move a knob or run again."};
constexpr size_t kMaxOwners = 32;  // configs remembered for one machine code

bool cancelled(const Observation& o) { return o.failure && o.failure->stage == Stage::cancelled; }

Observation refused_observation(const Experiment& experiment, const Failure& failure) {
  Observation o = blank_observation(experiment, hash_of(experiment));
  o.failure = failure;
  return o;
}

}  // namespace

// A person who asks for a lost worker's device is refused, but has it tried at once.
void SessionCore::focus(const Draft& draft, const Gesture& gesture) {
  reconnect(devices_.far_worker(draft.device));
  focus_on(draft, gesture, false);
}

void SessionCore::focus_on(Draft draft, Gesture gesture, bool device_is_wish) {
  held_focus_.reset();
  selected_.reset();
  Resolution r = resolve(draft, shelf_, devices_, device_is_wish);
  if (r.failure) return refuse_focus(std::move(r), gesture);
  if (!r.wait) return run_focus(std::move(r), gesture);
  leave_focus_job();
  focus_gesture_ = 0;
  focus_.want(std::move(r.experiment), std::move(r.kernel), gesture.change);
  focus_.progress(r.wait_for.empty() ? "starting the worker" : "waiting for worker " + r.wait_for, 0, 0);
  held_focus_ = HeldFocus{std::move(draft), std::move(gesture), device_is_wish};
  changed();
}

void SessionCore::run_focus(Resolution r, const Gesture& gesture) {
  if (!r.device_reason.empty()) device_reason_ = r.device_reason;
  const std::string hash = hash_of(r.experiment);
  // The end of a drag asks once more for what its last step asked for.
  const bool same_gesture = gesture.id != 0 && gesture.id == focus_gesture_;
  if ((focus_.settled() || same_gesture) && hash == focus_.wanted_hash()) return changed();
  focus_gesture_ = gesture.id;
  focus_.want(std::move(r.experiment), r.kernel, gesture.change);
  remember_asked();
  undo_.push(UndoState{focus_.wanted(), hash, std::move(r.kernel), gesture.change, nullptr, 0}, gesture.id);
  submit_focus(gesture.id, r.place);
}

void SessionCore::refuse_focus(Resolution r, const Gesture& gesture) {
  leave_focus_job();
  drop_watch();
  focus_gesture_ = gesture.id;
  auto refused = std::make_shared<const Observation>(refused_observation(r.experiment, *r.failure));
  undo_.push(UndoState{r.experiment, refused->hash, r.kernel, gesture.change, refused, 0}, gesture.id);
  notices_.log(LogLevel::warning, r.failure->message);
  focus_.refuse(std::move(r.experiment), std::move(r.kernel), gesture.change, std::move(*r.failure));
  remember_asked();
  changed();
}

// Of a kernel that is there: a name that is none is refused, and has no config to keep.
void SessionCore::remember_asked() {
  const Experiment& wanted = focus_.wanted();
  if (!focus_.kernel()) return;
  auto asked = std::make_shared<LastAskedByKernel>(*last_asked_);
  asked->insert_or_assign(wanted.kernel, wanted);
  last_asked_ = std::move(asked);
  journal_due_ = true;
}

void SessionCore::submit_focus(uint64_t gesture, DeviceTable::Place place) {
  place.spec = nullptr;  // the table's; it may change while the job waits
  drop_watch();
  Job job;
  job.experiment = focus_.wanted();
  job.hash = focus_.wanted_hash();
  job.kernel = focus_.kernel();
  job.place = place;
  job.gesture = gesture;
  const JobId id = next_id_++;
  jobs_.emplace(id, std::move(job));
  focus_.started(id);
  journal_due_ = true;
  for (size_t worker = 0; worker < workers_.size(); ++worker)
    if (worker != place.worker) carry_out(worker, workers_[worker].lanes.cancel_focus());
  Worker& worker = workers_[place.worker];
  if (!worker.link->up())
    focus_.progress(place.worker == 0 ? "starting the worker" : "waiting for worker " + worker.link->name(), 0, 0);
  carry_out(place.worker, worker.lanes.focus(id));
  worker.link->revive();
  changed();
}

// What runs in focus is no longer asked for.
void SessionCore::leave_focus_job() {
  held_focus_.reset();
  if (!focus_.leave()) return;
  for (size_t worker = 0; worker < workers_.size(); ++worker) carry_out(worker, workers_[worker].lanes.cancel_focus());
}

void SessionCore::rerun() {
  if (focus_.wanted().kernel.empty()) return;
  selected_.reset();
  Resolution r = resolve(focus_.wanted(), shelf_, devices_, false);
  if (r.failure || r.wait || hash_of(r.experiment) != focus_.wanted_hash())
    return focus_on(focus_.wanted(), Gesture{0, true, "run again"}, false);
  focus_.want(std::move(r.experiment), std::move(r.kernel), "run again");
  submit_focus(0, r.place);
}

void SessionCore::cancel() {
  if (std::exchange(held_focus_, std::nullopt)) focus_.finish(kCancelled);
  for (size_t worker = 0; worker < workers_.size(); ++worker) carry_out(worker, workers_[worker].lanes.cancel_focus());
  changed();
}

// What the kernel itself says, line by line, where a person looks for it.
void SessionCore::log_printed(const Printed& printed, const std::string& kernel) {
  for (const std::string& line : printed.lines) notices_.log(LogLevel::info, kernel + " prints: " + line);
  if (printed.more > 0) notices_.log(LogLevel::info, fmt::format("{} prints {} times more", kernel, printed.more));
}

void SessionCore::finish_focus(const Job& job, std::optional<Failure> failure) {
  const auto& hello = workers_[job.place.worker].link->hello();
  if (hello && focus_.own().versions == Versions{}) focus_.apply({0, {hello->versions}});
  auto observation = focus_.finish(std::move(failure));
  if (observation->printed) log_printed(*observation->printed, observation->experiment.kernel);
  observation = with_known_watch(std::move(observation));
  if (!cancelled(*observation)) {
    const std::string config = job.kernel ? short_text(job.experiment.config, *job.kernel) : "";
    const uint64_t run =
        history_.add(HistoryEntry{0, observation, focus_.view().change, config, platform::wall_seconds()}, job.gesture);
    undo_.keep(observation->hash, observation, run);
    focus_.set_run(run);
    keep_result(*observation);
  }
  if (options_.watch_configs && !observation->failure && !observation->watch) watch_later(std::move(observation));
  changed();
}

void SessionCore::undo() { step_through(undo_.undo()); }
void SessionCore::redo() { step_through(undo_.redo()); }

void SessionCore::step_through(const UndoState* state) {
  if (!state) return;
  leave_focus_job();
  drop_watch();
  selected_.reset();
  focus_gesture_ = 0;
  journal_due_ = true;
  if (state->observation) {
    focus_.show(state->observation, state->kernel, state->change, state->run);
    remember_asked();
    note_same_code();
    return changed();
  }
  // It was left before it came to an end: there is nothing to show but a run.
  DeviceTable::Place place;
  if (devices_.find(state->experiment.device, place) != DeviceTable::Answer::here) {
    focus_.refuse(state->experiment, state->kernel, state->change,
                  Failure{Stage::device, devices_.missing(state->experiment.device), ""});
    return changed();
  }
  focus_.want(state->experiment, state->kernel, state->change);
  remember_asked();
  submit_focus(0, place);
}

void SessionCore::select_history(uint64_t id) {
  const HistoryEntry* entry = history_.find(id);
  selected_ = entry ? std::optional(*entry) : std::nullopt;
  changed();
}

void SessionCore::queue(const Draft& draft, Watch watch, std::shared_ptr<Answer> answer) {
  reconnect(devices_.far_worker(draft.device));
  enqueue(draft, watch, std::move(answer));
}

void SessionCore::enqueue(const Draft& draft, Watch watch, std::shared_ptr<Answer> answer) {
  if (shutting_down_) return answer->set_value(session_over());
  changed();
  Resolution r = resolve(draft, shelf_, devices_, false);
  if (r.failure) return answer->set_value(refused_observation(r.experiment, *r.failure));
  if (r.wait) {
    held_queue_.push_back({draft, watch, std::move(answer)});
    return;
  }
  Job job;
  job.lane = Lane::queue;
  job.hash = hash_of(r.experiment);
  job.experiment = std::move(r.experiment);
  job.own = blank_observation(job.experiment, job.hash);
  job.kernel = std::move(r.kernel);
  job.place = r.place;
  const bool emulated = r.place.spec && r.place.spec->emulated;
  job.watch = watch == Watch::always || (watch == Watch::emulated && emulated);
  job.place.spec = nullptr;
  job.answer = std::move(answer);
  const JobId id = next_id_++;
  Worker& worker = workers_[job.place.worker];
  const size_t index = job.place.worker;
  jobs_.emplace(id, std::move(job));
  carry_out(index, worker.lanes.queue(id));
  worker.link->revive();
}

// A worker has settled: what waited for its devices goes on.
void SessionCore::release_held() {
  if (auto held = std::exchange(held_focus_, std::nullopt))
    focus_on(std::move(held->draft), std::move(held->gesture), held->device_is_wish);
  for (HeldQueue& held : std::exchange(held_queue_, {})) enqueue(held.draft, held.watch, std::move(held.answer));
}

// Whether the machine code of the wanted experiment was seen under another config.
void SessionCore::note_same_code() {
  const Observation& own = focus_.own();
  if (!own.variant || own.variant->code_hash.empty()) return;
  std::vector<CodeOwner>& owners = code_owners_[own.variant->code_hash];
  const Experiment& wanted = focus_.wanted();
  auto same_config = [&](const CodeOwner& owner) {
    return owner.experiment.config == wanted.config && owner.experiment.kernel == wanted.kernel;
  };
  const auto other = std::find_if_not(owners.begin(), owners.end(), same_config);
  if (other != owners.end()) focus_.set_same_code_as(difference_text(other->experiment, wanted, other->kernel.get()));
  if (owners.size() < kMaxOwners && std::none_of(owners.begin(), owners.end(), same_config))
    owners.push_back({wanted, focus_.kernel()});
}

void SessionCore::request_view(const ViewRequest& request) {
  const auto worker = views_.ask(request, focus_.running() ? focus_.wanted_hash() : "");
  if (!worker) return refuse_view(request, worker.error());
  if (!*worker) return;
  Job job;
  job.lane = Lane::view;
  job.hash = request.experiment_hash;
  job.view = request;
  job.place.worker = **worker;
  const JobId id = next_id_++;
  jobs_.emplace(id, std::move(job));
  carry_out(**worker, workers_[**worker].lanes.view(id));
}

void SessionCore::refuse_view(const ViewRequest& request, Failure why) {
  notices_.log(LogLevel::info, "no map: " + why.message);
  views_.refuse(request, std::move(why));
  changed();
}

}  // namespace attnscope::session
