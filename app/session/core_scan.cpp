// Scans: the values of a knob, one after the other, when nothing else runs.
#include "catalog/validate.h"
#include "session/core.h"

namespace attnscope::session {

void SessionCore::scan(const ScanRequest& request) {
  changed();
  Resolution r = resolve(request.draft, shelf_, devices_, false);
  if (r.wait) return scan_.hold(request);
  // A refusal of the draft's own config is no refusal of another value.
  const bool runs = r.kernel && r.place.spec != nullptr && catalog::check_runs(*r.kernel, *r.place.spec);
  if (r.failure && !runs)
    scan_.refuse(request, r);
  else
    scan_.add(request, r);
  continue_scan();
}

void SessionCore::continue_scan() {
  if (shutting_down_) return;
  const auto step = scan_.next();
  if (!step) return;
  const JobId id = next_id_++;
  scan_.started(id);
  submit(id, {Lane::scan,
              step->experiment,
              hash_of(step->experiment),
              step->place.worker,
              step->place.local_id,
              {},
              step->watch});
}

void SessionCore::finish_scan(const Job& job, std::optional<Failure> failure) {
  const WorkerLink& link = *workers_[job.worker].link;
  scan_.finish(std::move(failure), link.name(), link.hello() ? link.hello()->versions : Versions{});
  changed();
  continue_scan();
}

// What is wanted has changed.
void SessionCore::drop_scans() {
  if (!scan_.keep_for(focus_.wanted())) return;
  cancel_everywhere(Lane::scan);
  continue_scan();
}

}  // namespace attnscope::session
