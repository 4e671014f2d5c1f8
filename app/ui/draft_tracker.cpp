#include "ui/draft_tracker.h"

#include "catalog/choices.h"
#include "catalog/validate.h"
#include "catalog/workload.h"

namespace attnscope::ui {

bool asks_for(Draft draft, const Experiment& experiment) {
  draft.config.knobs.insert(experiment.config.knobs.begin(), experiment.config.knobs.end());
  return draft == experiment;
}

void DraftTracker::observe(const session::Snapshot& snapshot) {
  if (snapshot.version == seen_version_) return;
  seen_version_ = snapshot.version;
  const session::Focus& focus = snapshot.focus;
  if (focus.wanted_hash != seen_hash_) {
    seen_hash_ = focus.wanted_hash;
    seen_ = focus.wanted;
    unanswered_ = 0;
    // A fast drag is answered step by step: everything up to the answered step is done. An answer that matches no
    // pending step has another origin (undo, a preset) and wins.
    for (size_t at = pending_.size(); at-- > 0;)
      if (asks_for(pending_[at], focus.wanted)) {
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        return;
      }
    pending_.clear();
    return;
  }
  if (pending_.empty()) return;
  if (asks_for(pending_.back(), focus.wanted) || ++unanswered_ > kPatience) pending_.clear();
}

void DraftTracker::posted(Draft draft) {
  pending_.push_back(std::move(draft));
  unanswered_ = 0;
}

Draft with_kernel(Draft draft, const Kernel& kernel, const Draft* kept, const DeviceSpec* spec) {
  Problem problem = catalog::problem_for(kernel, draft.problem);
  if (kept != nullptr && problem != draft.problem) problem = catalog::problem_for(kernel, kept->problem);
  draft.kernel = kernel.id;
  draft.problem = std::move(problem);
  Draft own = with_own_knobs(draft, kernel);
  if (kept == nullptr) return own;
  draft.config = {own.config.knobs, kept->config.options};
  for (const Knob& knob : kernel.knobs)
    if (const auto held = kept->config.knobs.find(knob.name);
        held != kept->config.knobs.end() && knob.find(held->second) != nullptr)
      draft.config.knobs[knob.name] = held->second;
  const auto runs = [&](const Draft& wish) {
    return catalog::check_restrictions(kernel, wish.problem, wish.config, spec->arch) &&
           catalog::foretell_limits(kernel, wish.problem, wish.config, *spec);
  };
  return spec != nullptr && !runs(draft) && runs(own) ? own : draft;
}

const Draft* last_asked(const session::Snapshot& snapshot, const std::string& kernel) {
  if (!snapshot.last_asked) return nullptr;
  const auto found = snapshot.last_asked->find(kernel);
  return found == snapshot.last_asked->end() ? nullptr : &found->second;
}

Draft with_own_knobs(Draft draft, const Kernel& kernel) {
  draft.config = {{}, kernel.options};
  for (const Knob& knob : kernel.knobs) draft.config.knobs[knob.name] = knob.default_value;
  return draft;
}

Draft with_own_problem(Draft draft, const Kernel& kernel) {
  draft.problem = kernel.default_problem();
  return draft;
}

std::string change_text(const Knob& knob, int64_t from, int64_t to) {
  return knob.name + " " + knob.text_of(from) + " \u2192 " + knob.text_of(to);
}

}  // namespace attnscope::ui
