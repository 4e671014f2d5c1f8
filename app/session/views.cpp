#include "session/views.h"

#include "session/snapshot.h"

namespace attnscope::session {

Result<std::optional<size_t>> Views::ask(const ViewRequest& request, const std::string& running) {
  if (request.map != MapKind::attention && !request.target) last_ = request;  // the map can grow during a run
  const std::string key = tile_key(request);
  if (const Tile* tile = tiles_.find(request); tile && complete(*tile)) return std::nullopt;
  if (asked_.contains(key) || refused_.contains(key)) return std::nullopt;
  const auto ran = ran_on_.find(request.experiment_hash);
  if (ran == ran_on_.end()) {
    if (request.experiment_hash == running) return std::nullopt;
    return fail(Stage::device, "No worker has the output of that run any more", "Run it again.");
  }
  asked_.insert(key);
  return ran->second.worker;
}

void Views::refuse(const ViewRequest& request, Failure why) {
  if (refused_.size() >= kMostRefused) refused_.clear();
  refused_.insert_or_assign(tile_key(request), std::move(why));
}

void Views::over(const ViewRequest& request) { asked_.erase(tile_key(request)); }

void Views::ran(const std::string& hash, size_t worker, std::string wire_hash) {
  if (ran_on_.size() >= kMostRuns) ran_on_.clear();
  ran_on_[hash] = RanOn{worker, std::move(wire_hash)};
  std::erase_if(refused_, [&](const auto& refused) { return refused.first.starts_with(hash); });
}

std::optional<ViewRequest> Views::first_of(const Experiment& experiment, const std::string& hash) {
  if (!last_) return std::nullopt;
  ViewRequest view = *last_;
  view.experiment_hash = hash;
  if (view.batch >= experiment.problem.batch) view.batch = 0;
  if (view.head >= experiment.problem.heads) view.head = 0;
  if (view.row_end > experiment.problem.seq_q || view.row_begin >= experiment.problem.seq_q)
    view.row_begin = view.row_end = 0;
  asked_.insert(tile_key(view));
  return view;
}

ViewRequest Views::on_wire(ViewRequest request) const {
  if (const auto ran = ran_on_.find(request.experiment_hash); ran != ran_on_.end())
    request.experiment_hash = ran->second.wire_hash;
  return request;
}

void Views::forget(size_t worker) {
  std::erase_if(ran_on_, [&](const auto& entry) { return entry.second.worker == worker; });
}

}  // namespace attnscope::session
