#include "worker/kept_runs.h"

#include <algorithm>

#include "check/attention_map.h"
#include "check/error_map.h"

namespace attnscope::worker {

void KeptRuns::keep(KeptRun run) {
  std::lock_guard lock(mutex_);
  runs_.remove_if([&](const KeptRun& old) { return old.experiment_hash == run.experiment_hash; });
  runs_.push_front(std::move(run));
  const auto bytes = [&] {
    size_t sum = 0;
    for (const KeptRun& kept : runs_) sum += kept.output->data().size();
    return sum;
  };
  while (runs_.size() > 1 && (runs_.size() > most_ || bytes() > most_bytes_)) runs_.pop_back();
}

Result<Tile> KeptRuns::view(const ViewRequest& request) const {
  KeptRun run;
  {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const KeptRun& kept) {
      return kept.experiment_hash == request.experiment_hash;
    });
    if (found == runs_.end())
      return fail(Stage::device, "the run of this map is not kept any more", "Run the experiment again.");
    run = *found;
  }
  if (request.map == MapKind::attention) return check::make_attention_tile(request, run.problem);
  return check::make_tile(request, run.problem, run.output->data(), run.reference.get());
}

}  // namespace attnscope::worker
