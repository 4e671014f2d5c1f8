// Scans: the values of a knob, one after the other, when nothing else runs.
#include "catalog/validate.h"
#include "session/core.h"

namespace attnscope::session {

void SessionCore::scan(const ScanRequest& request) {
  changed();
  Resolution r = request.sharing ? resolve_shared(request.draft, shelf_, devices_, *request.sharing)
                                 : resolve(request.draft, shelf_, devices_, false);
  if (r.wait) return scan_.hold(request);
  // A refusal of the draft's own config does not refuse other values.
  const bool runs = r.kernel && r.place.spec != nullptr && catalog::check_runs(*r.kernel, *r.place.spec);
  if (r.failure && !runs)
    scan_.refuse(request, r);
  else
    scan_.add(request, r);
  continue_scan();
}

void SessionCore::end_scan(uint64_t id) {
  if (scan_.end_early(id)) cancel_everywhere(Lane::scan);
  changed();
  continue_scan();
}

void SessionCore::continue_scan() {
  if (shutting_down_) return;
  const auto look = [this](const DeviceTable::Place& place) { return look_at(place); };
  while (auto step = scan_.next(look)) {
    const JobId id = next_id_++;
    scan_.started(id);
    Job job{Lane::scan, step->experiment, hash_of(step->experiment), step->place.worker, step->place.local_id,
            {},         step->watch};
    job.among = std::move(step->among);
    submit(id, std::move(job));
  }
}

PlaceNow SessionCore::look_at(const DeviceTable::Place& place) const {
  const WorkerLink& link = *workers_[place.worker].link;
  PlaceNow now{link.up(), link.state() == WorkerState::lost, nullptr, {}, link.detail()};
  if (link.hello()) now.versions = link.hello()->versions;
  if (now.up) now.spec = devices_.place_of(place.id).spec;
  return now;
}

// The worker went away or does not answer. Returns true if it had a point of a shared scan, which another worker gets.
bool SessionCore::give_scan_back(size_t worker, const std::string& why) {
  const std::string& name = workers_[worker].link->name();
  const bool had_one = scan_.worker_went(worker, name, why);
  if (had_one) note(LogLevel::warning, "the config that worker " + name + " had goes to another worker");
  return had_one;
}

void SessionCore::finish_scan(JobId id, const Job& job, std::optional<Failure> failure) {
  const WorkerLink& link = *workers_[job.worker].link;
  scan_.finish(id, std::move(failure), link.name(), link.hello() ? link.hello()->versions : Versions{});
  changed();
  continue_scan();
}

// Ends the scans that no longer match the wanted experiment.
void SessionCore::drop_scans() {
  if (!scan_.keep_for(focus_.wanted())) return;
  cancel_everywhere(Lane::scan);
  continue_scan();
}

}  // namespace attnscope::session
