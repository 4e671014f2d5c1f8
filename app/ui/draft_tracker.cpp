#include "ui/draft_tracker.h"

#include "catalog/choices.h"
#include "catalog/validate.h"
#include "catalog/workload.h"

namespace attnscope::ui {

session::Draft draft_of(const Experiment& experiment) {
  session::Draft draft;
  draft.problem = experiment.problem;
  draft.kernel = experiment.kernel;
  draft.knobs = experiment.config.knobs;
  draft.options = experiment.config.options;
  draft.device = experiment.device;
  draft.measure = experiment.measure;
  return draft;
}

bool asks_for(const session::Draft& draft, const Experiment& experiment) {
  if (draft.problem != experiment.problem || draft.kernel != experiment.kernel ||
      draft.options != experiment.config.options || draft.device != experiment.device ||
      draft.measure != experiment.measure)
    return false;
  for (const auto& [name, value] : draft.knobs) {
    const auto found = experiment.config.knobs.find(name);
    if (found == experiment.config.knobs.end() || found->second != value) return false;
  }
  return true;
}

void DraftTracker::observe(const session::Snapshot& snapshot) {
  if (snapshot.version == seen_version_) return;
  seen_version_ = snapshot.version;
  const session::Focus& focus = snapshot.focus;
  if (focus.wanted_hash != seen_hash_) {
    seen_hash_ = focus.wanted_hash;
    seen_ = draft_of(focus.wanted);
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

void DraftTracker::posted(session::Draft draft) {
  pending_.push_back(std::move(draft));
  unanswered_ = 0;
}

session::Draft with_kernel(session::Draft draft, const Kernel& kernel, const session::LastAsked* kept,
                           const DeviceSpec* spec) {
  Problem problem = catalog::problem_for(kernel, draft.problem);
  if (kept != nullptr && problem != draft.problem) problem = catalog::problem_for(kernel, kept->problem);
  draft.kernel = kernel.id;
  draft.problem = std::move(problem);
  session::Draft own = with_own_knobs(draft, kernel);
  if (kept == nullptr) return own;
  draft.knobs = own.knobs;
  draft.options = kept->config.options;
  for (const Knob& knob : kernel.knobs)
    if (const auto held = kept->config.knobs.find(knob.name);
        held != kept->config.knobs.end() && knob.find(held->second) != nullptr)
      draft.knobs[knob.name] = held->second;
  const auto runs = [&](const session::Draft& wish) {
    const Config config{wish.knobs, wish.options};
    return catalog::check_restrictions(kernel, wish.problem, config, spec->arch) &&
           catalog::foretell_limits(kernel, wish.problem, config, *spec);
  };
  return spec != nullptr && !runs(draft) && runs(own) ? own : draft;
}

const session::LastAsked* last_asked(const session::Snapshot& snapshot, const std::string& kernel) {
  if (!snapshot.last_asked) return nullptr;
  const auto found = snapshot.last_asked->find(kernel);
  return found == snapshot.last_asked->end() ? nullptr : &found->second;
}

session::Draft with_own_knobs(session::Draft draft, const Kernel& kernel) {
  draft.knobs.clear();
  for (const Knob& knob : kernel.knobs) draft.knobs[knob.name] = knob.default_value;
  draft.options = kernel.options;
  return draft;
}

session::Draft with_own_problem(session::Draft draft, const Kernel& kernel) {
  draft.problem = kernel.default_problem();
  return draft;
}

std::string change_text(const Knob& knob, int64_t from, int64_t to) {
  return knob.name + " " + knob.text_of(from) + " \u2192 " + knob.text_of(to);
}

}  // namespace attnscope::ui
