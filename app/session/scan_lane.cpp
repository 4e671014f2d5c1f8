#include "session/scan_lane.h"

#include <algorithm>

#include "catalog/choices.h"
#include "catalog/launch_key.h"
#include "catalog/validate.h"
#include "core/near.h"
#include "session/complete.h"

namespace attnscope::session {
namespace {

std::optional<Failure> unknown_knob(const Kernel& kernel, const std::vector<std::string>& asked) {
  if (kernel.knobs.empty()) return Failure{Stage::input, kernel.id + " has no knobs", "Scan another kernel."};
  std::vector<std::string> known;
  for (const Knob& knob : kernel.knobs) known.push_back(knob.name);
  for (const std::string& name : asked)
    if (kernel.find_knob(name) == nullptr)
      return Failure{Stage::input, kernel.id + " has no knob " + name, names_to_choose(name, known)};
  return std::nullopt;
}

// Beyond what choices() says, which takes it that the device and the kernel go together.
ScanPoint point_of(const catalog::KnobChoice& choice, const Knob& knob, const Experiment& held) {
  ScanPoint point{choice.knob, *knob.find(choice.value), choice.chosen, held.config, {}, choice.warnings, nullptr, {}};
  point.config.knobs[choice.knob] = choice.value;
  if (!choice.legal) point.refused = Failure{Stage::limits, choice.reason, choice.hint};
  return point;
}

Shared<Observation> known_run(const ScanRequest& request, const Experiment& held, const Config& config) {
  Experiment own = held;
  own.config = config;
  const auto run = std::ranges::find(request.known, hash_of(own), [](const auto& one) { return one->hash; });
  return run != request.known.end() ? *run : nullptr;
}

Result<void> check_config(const Kernel& kernel, const Problem& problem, const Config& config, const DeviceSpec& spec) {
  if (auto complete = catalog::complete_config(kernel, config.knobs, config.options); !complete)
    return fail(complete.error());
  if (auto allowed = catalog::check_restrictions(kernel, problem, config, spec.arch); !allowed) return allowed;
  return catalog::foretell_limits(kernel, problem, config, spec);
}

Scan plan_config(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec) {
  ScanPoint point;
  point.config = held.config;
  for (const auto& [knob, value] : request.set) point.config.knobs[knob] = value;
  if (auto legal = check_config(kernel, held.problem, point.config, spec); !legal) point.refused = legal.error();
  point.observation = known_run(request, held, point.config);
  return {request.id, held, {std::move(point)}, {}};
}

}  // namespace

Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec) {
  if (!request.set.empty()) return plan_config(request, kernel, held, spec);
  Scan scan{request.id, held, {}, unknown_knob(kernel, request.knobs)};
  if (scan.failure) return scan;
  const auto all = catalog::choices(kernel, held.problem, held.config, spec);
  for (const Knob& knob : kernel.knobs) {
    if (!request.knobs.empty() && std::ranges::count(request.knobs, knob.name) == 0) continue;
    for (const catalog::KnobChoice& choice : all) {
      if (choice.knob != knob.name || (!request.warned && !choice.chosen && !choice.warnings.empty())) continue;
      ScanPoint point = point_of(choice, knob, held);
      point.observation = known_run(request, held, point.config);
      const auto twin = std::ranges::find(scan.points, point.config, &ScanPoint::config);
      if (twin != scan.points.end() && !point.refused) point.same_as = twin - scan.points.begin();
      scan.points.push_back(std::move(point));
    }
  }
  return scan;
}

void ScanLane::add(const ScanRequest& request, const Resolution& resolution) {
  Entry entry{plan_scan(request, *resolution.kernel, resolution.experiment, *resolution.place.spec),
              resolution.kernel,
              resolution.place,
              false,
              {}};
  const bool emulated = resolution.place.spec->emulated;
  entry.place.spec = nullptr;  // the table of devices may change
  entry.watch = (request.watch == Watch::always || (request.watch == Watch::emulated && emulated)) &&
                resolution.kernel->library.is_source();
  for (const ScanPoint& point : entry.scan.points)
    entry.keys.push_back(catalog::launch_key(*resolution.kernel, resolution.experiment.problem, point.config));
  // The same scan again replaces its result; what runs stays in its place.
  for (size_t at = 0; at < entries_.size() && job_ == 0; ++at)
    if (entries_[at].scan.held == entry.scan.held &&
        std::ranges::equal(entries_[at].scan.points, entry.scan.points, {}, &ScanPoint::config, &ScanPoint::config))
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at--));
  // Configs that were run on the side push no scan of a knob out.
  const auto alike = [of_config = entry.scan.of_config()](const Entry& one) {
    return one.scan.of_config() == of_config;
  };
  entries_.push_back(std::move(entry));
  while (std::ranges::count_if(entries_, alike) > static_cast<std::ptrdiff_t>(kMostKept)) {
    const auto oldest = std::ranges::find_if(entries_, alike);
    if (!oldest->scan.over()) break;
    if (oldest - entries_.begin() < static_cast<std::ptrdiff_t>(entry_)) --entry_;
    entries_.erase(oldest);
  }
  publish();
}

void ScanLane::refuse(const ScanRequest& request, const Resolution& resolution) {
  Entry entry;
  entry.scan = {request.id, resolution.experiment, {}, resolution.failure};
  entries_.push_back(std::move(entry));
  publish();
}

Experiment ScanLane::experiment_of(const Entry& entry, size_t point) const {
  Experiment experiment = entry.scan.held;
  experiment.config = entry.scan.points.at(point).config;
  return experiment;
}

std::optional<ScanLane::Step> ScanLane::next() {
  if (job_ != 0) return std::nullopt;
  for (entry_ = 0; entry_ < entries_.size(); ++entry_) {
    const Entry& entry = entries_[entry_];
    const auto found = std::ranges::find_if_not(entry.scan.points, &ScanPoint::ended);
    if (entry.scan.over()) continue;
    point_ = static_cast<size_t>(found - entry.scan.points.begin());
    own_ = blank_observation(experiment_of(entry, point_));
    return Step{own_.experiment, entry.place, entry.watch};
  }
  return std::nullopt;
}

protocol::Among ScanLane::among(const std::string& device) const {
  protocol::Among among;
  const Entry& entry = entries_.at(entry_);
  for (size_t at = 0; at < entry.scan.points.size(); ++at) {
    const ScanPoint& point = entry.scan.points[at];
    if (at > point_ && !point.ended() && among.ahead.size() < kMostAhead) {
      among.ahead.push_back(experiment_of(entry, at));
      among.ahead.back().device = device;
    }
    const Observation* run = point.same_as ? nullptr : point.observation.get();
    if (run != nullptr && run->timing && run->variant && !run->variant->code_hash.empty() &&
        entry.keys[at] == entry.keys[point_])
      among.known_codes.push_back(run->variant->code_hash);
  }
  return among;
}

void ScanLane::restart() { own_ = blank_observation(own_.experiment); }

void ScanLane::take_part(const protocol::Part& part) {
  if (!is(part.id)) return;
  apply_part(own_, part);
  own_.device = own_.experiment.device;  // a worker of a name knows its devices without that name
}

void ScanLane::finish(std::optional<Failure> failure, const std::string& worker, const Versions& versions) {
  job_ = 0;
  Entry& entry = entries_.at(entry_);
  ScanPoint& point = entry.scan.points.at(point_);
  if (!failure && own_.variant && !own_.timing)
    for (size_t at = 0; at < entry.scan.points.size() && !point.same_as; ++at) {
      const Observation* run = entry.scan.points[at].observation.get();
      if (run != nullptr && run->timing && run->variant && run->variant->code_hash == own_.variant->code_hash &&
          entry.keys[at] == entry.keys[point_])
        point.same_as = at;
    }
  if (!failure && !point.same_as) failure = lack_of(own_, entry.watch, worker);
  if (failure) own_.failure = std::move(failure);
  if (own_.versions == Versions{}) own_.versions = versions;
  point.observation = share(std::move(own_));
  publish();
}

bool ScanLane::keep_for(const Draft& wanted) {
  const auto ends = [&](const Entry& entry) { return !entry.scan.over() && !entry.scan.holds(wanted); };
  const bool ran = job_ != 0 && ends(entries_.at(entry_));
  if (ran) job_ = 0;
  const size_t before = entries_.size();
  size_t kept = 0;
  for (size_t at = 0; at < entries_.size(); ++at) {
    if (ends(entries_[at])) continue;
    if (at == entry_) entry_ = kept;
    if (at != kept) entries_[kept] = std::move(entries_[at]);
    ++kept;
  }
  entries_.resize(kept);
  if (kept != before) publish();
  return ran;
}

void ScanLane::publish() {
  std::vector<Shared<Scan>> next;
  for (size_t at = 0; at < entries_.size(); ++at) next.push_back(share(entries_[at].scan));
  view_ = std::move(next);
}

}  // namespace attnscope::session
