#include "cli/tune.h"

#include <map>
#include <optional>
#include <set>

#include "catalog/validate.h"
#include "core/headline.h"

namespace attnscope::cli {
namespace {

using Knobs = std::map<std::string, int64_t>;

constexpr double kBetter = 0.999;  // of the best so far; a smaller gain does not count
constexpr int kMostPasses = 4;

class Search {
 public:
  Search(const Kernel& kernel, const Problem& problem, const TuneRuns& runs)
      : kernel_(kernel), problem_(problem), runs_(runs) {}

  Result<Tuned> search() {
    for (const Knob& knob : kernel_.knobs) at_[knob.name] = knob.default_value;
    consider(at_);
    for (int pass = 0; pass < kMostPasses; ++pass)
      if (!improve()) break;
    return result();
  }

  Result<Tuned> choose(const std::vector<Knobs>& configs) {
    for (const Knobs& config : configs) {
      Knobs knobs = config;
      for (const Knob& knob : kernel_.knobs) knobs.try_emplace(knob.name, knob.default_value);
      consider(knobs);
    }
    return result();
  }

 private:
  Result<Tuned> result() {
    if (best_) return Tuned{std::move(*best_), tried_};
    return fail(Stage::input, kernel_.id + " at " + short_text(problem_) + ": " + why_not_, "");
  }

  bool improve() {
    bool better = false;
    for (const Knob& knob : kernel_.knobs)
      for (const KnobValue& value : knob.values) {
        Knobs knobs = at_;
        knobs[knob.name] = value.value;
        if (consider(knobs)) {
          at_ = knobs;
          better = true;
        }
      }
    return better;
  }

  bool consider(const Knobs& knobs) {
    if (!seen_.insert(knobs).second) return false;
    auto config = catalog::complete_config(kernel_, knobs, {});
    if (!config) return false;
    auto warned = catalog::warnings(kernel_, problem_, *config);
    if (!warned || !warned->empty()) return false;
    ++tried_;
    Observation o = runs_.plain(knobs);
    if (o.failure) why_not_ = o.failure->message;
    if (o.verdict && o.verdict->state != VerdictState::correct)
      why_not_ = std::string(to_string(o.verdict->state)) + ": " + o.verdict->reason;
    const bool good = !o.failure && o.timing && o.verdict && o.verdict->state == VerdictState::correct;
    if (!good || (best_ && o.timing->p50 >= kBetter * best_->timing->p50) || !sound(knobs)) return false;
    best_ = std::move(o);
    return true;
  }

  // An output that is right by luck does not count as correct.
  bool sound(const Knobs& knobs) {
    if (!runs_.watch) return true;
    const Observation o = runs_.watch(knobs);
    const auto headline = headline_of(o);
    if (o.failure) why_not_ = "not watched: " + o.failure->message;
    if (headline && is_fault(*headline)) why_not_ = std::string(to_string(*headline)) + ", as the watch found";
    return !o.failure && headline && !is_fault(*headline);
  }

  const Kernel& kernel_;
  const Problem& problem_;
  const TuneRuns& runs_;
  Knobs at_;
  std::set<Knobs> seen_;
  std::optional<Observation> best_;
  std::string why_not_ = "no config was tried";
  int64_t tried_ = 0;
};

}  // namespace

Result<Tuned> tune(const Kernel& kernel, const Problem& problem, const TuneRuns& runs) {
  return Search(kernel, problem, runs).search();
}

Result<Tuned> best_of(const Kernel& kernel, const Problem& problem, const std::vector<Knobs>& configs,
                      const TuneRuns& runs) {
  return Search(kernel, problem, runs).choose(configs);
}

report::TunedEntry entry_of(const Observation& best, std::string date) {
  report::TunedEntry entry;
  entry.problem = best.experiment.problem;
  entry.kernel = best.experiment.kernel;
  entry.kernel_hash = best.experiment.kernel_hash;
  entry.config = best.experiment.config;
  entry.kind = best.timing->kind;
  entry.us = best.timing->p50;
  entry.verdict = best.verdict->state;
  entry.date = std::move(date);
  entry.versions = best.versions;
  return entry;
}

}  // namespace attnscope::cli
