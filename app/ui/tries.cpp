#include "ui/tries.h"

#include <algorithm>

#include "ui/context.h"

namespace attnscope::ui {
namespace {

// The configs that findings propose, in the order of the rows and without duplicates.
std::vector<std::map<std::string, int64_t>> proposed_by(const Observation& seen) {
  std::vector<std::map<std::string, int64_t>> sets;
  for (const charts::FindingRow& row : charts::finding_rows(seen))
    if (!row.next.empty() && std::ranges::count(sets, row.next) == 0) sets.push_back(row.next);
  return sets;
}

}  // namespace

void Tries::follow(session::Session& session, const session::Snapshot& snapshot, const Shown& shown, bool may_run) {
  if (shown.observation != base_) take(snapshot, shown.observation);
  for (Wish& wish : wishes_) {
    if (wish.came.words.empty()) look(snapshot, wish);
    if (!may_run) wish.asked = false;  // a person's request has ended it
    if (!may_run || wish.asked || !wish.came.words.empty()) continue;
    wish.asked = true;
    session::ScanRequest request{.id = next_gesture(), .draft = base_->experiment, .knobs = {}};
    request.set = wish.set;
    session.scan(std::move(request));
  }
}

const charts::Tried* Tries::of(const Config& config) const {
  const auto found =
      std::ranges::find(wishes_, config, [](const Wish& wish) -> const Config& { return wish.experiment.config; });
  return found != wishes_.end() ? &found->came : nullptr;
}

void Tries::take(const session::Snapshot& snapshot, const session::Shared<Observation>& shown) {
  base_ = shown;
  wishes_.clear();
  if (!base_ || base_->failure || !base_->timing) return;
  const Kernel* kernel = session::find_kernel(snapshot, base_->experiment.kernel);
  if (kernel == nullptr || kernel->content_hash != base_->experiment.kernel_hash) return;  // edited since
  for (const auto& set : proposed_by(*base_)) {
    Wish wish{base_->experiment, set, false, {}};
    for (const auto& [knob, value] : set) wish.experiment.config.knobs[knob] = value;
    if (wish.experiment.config == base_->experiment.config || of(wish.experiment.config) != nullptr) continue;
    for (size_t at = snapshot.history.size; at-- > 0 && wish.came.words.empty();) {
      const Observation& run = *snapshot.history.at(at).observation;
      if (run.timing && run.experiment == wish.experiment) wish.came = charts::tried_text(*base_, run);
    }
    wishes_.push_back(std::move(wish));
    if (wishes_.size() == kMost) return;
  }
}

// Looks for its result in the scans, newest first: its own scan, or one of a knob that has it among its values.
void Tries::look(const session::Snapshot& snapshot, Wish& wish) const {
  for (size_t at = snapshot.scans.size(); at-- > 0;) {
    const Scan& scan = *snapshot.scans[at];
    for (size_t point = 0; point < scan.points.size(); ++point) {
      if (scan.points[point].config != wish.experiment.config) continue;
      Experiment own = scan.held;
      own.config = scan.points[point].config;
      if (own != wish.experiment) continue;
      wish.came = charts::tried_text(*base_, scan, point);
      wish.asked = true;
      return;
    }
  }
}

}  // namespace attnscope::ui
