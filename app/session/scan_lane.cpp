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

ScanPoint point_of(const Kernel& kernel, const Experiment& held, const Config& config, const DeviceSpec& spec) {
  const KnobValue named{0, short_text(config, kernel, held.config.options)};
  ScanPoint point{"", named, config == held.config, config, {}, {}, nullptr, {}};
  if (auto complete = catalog::complete_config(kernel, config.knobs, config.options); !complete)
    point.refused = complete.error();
  else if (auto taken = catalog::check_config(kernel, held.problem, config, spec); !taken)
    point.refused = taken.error();
  else if (auto warned = catalog::warnings(kernel, held.problem, config))
    point.warnings = std::move(*warned);
  return point;
}

bool is_of_configs(const ScanRequest& request) { return !request.set.empty() || !request.configs.empty(); }

std::vector<ScanPoint> points_of(const ScanRequest& request, const Kernel& kernel, const Experiment& held,
                                 const DeviceSpec& spec) {
  std::vector<ScanPoint> points;
  for (const Config& config : request.configs) points.push_back(point_of(kernel, held, config, spec));
  if (!request.set.empty()) {
    Config config = held.config;
    for (const auto& [knob, value] : request.set) config.knobs[knob] = value;
    points.push_back(point_of(kernel, held, config, spec));
  }
  if (is_of_configs(request)) return points;
  const auto all = catalog::choices(kernel, held.problem, held.config, spec);
  for (const Knob& knob : kernel.knobs) {
    if (!request.knobs.empty() && std::ranges::count(request.knobs, knob.name) == 0) continue;
    for (const catalog::KnobChoice& choice : all)
      if (choice.knob == knob.name && (request.warned || choice.chosen || choice.warnings.empty()))
        points.push_back(point_of(choice, knob, held));
  }
  return points;
}

bool is_correct_and_measured(const Observation& run) {
  return !run.failure && run.timing && run.timing->kind == FigureKind::measured && run.verdict &&
         run.verdict->state == VerdictState::correct;
}

bool is_code_only(const Observation& run) { return run.variant && !run.timing && !run.failure; }

// The point that was timed with the machine code and the launch of `run`, which is point `at`'s.
std::optional<size_t> timed_twin(const Scan& scan, const std::vector<std::string>& keys, size_t at,
                                 const Observation& run) {
  for (size_t other = 0; other < scan.points.size(); ++other) {
    const Observation* timed = scan.points[other].observation.get();
    if (timed != nullptr && timed->timing && timed->variant && timed->variant->code_hash == run.variant->code_hash &&
        keys[other] == keys[at])
      return other;
  }
  return std::nullopt;
}

}  // namespace

Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec) {
  Scan scan{request.id, held, {}, {}};
  if (!is_of_configs(request)) scan.failure = unknown_knob(kernel, request.knobs);
  if (scan.failure) return scan;
  std::map<std::string, Shared<Observation>> known;
  for (const Shared<Observation>& run : request.known) known.try_emplace(run->hash, run);
  std::map<std::string, size_t> first;  // point of each config that is not refused, by its experiment's hash
  for (ScanPoint& point : points_of(request, kernel, held, spec)) {
    Experiment own = held;
    own.config = point.config;
    const std::string hash = hash_of(own);
    if (const auto run = known.find(hash); run != known.end()) point.observation = run->second;
    if (!point.refused)
      if (const auto [twin, added] = first.try_emplace(hash, scan.points.size()); !added) point.same_as = twin->second;
    scan.points.push_back(std::move(point));
  }
  return scan;
}

void ScanLane::add(const ScanRequest& request, const Resolution& resolution) {
  Entry entry{plan_scan(request, *resolution.kernel, resolution.experiment, *resolution.place.spec),
              resolution.kernel,
              resolution.place,
              false,
              request.discards,
              {}};
  const bool emulated = resolution.place.spec->emulated;
  entry.place.spec = nullptr;  // the table of devices may change
  entry.watch = (request.watch == Watch::always || (request.watch == Watch::emulated && emulated)) &&
                resolution.kernel->library.is_source();
  for (const ScanPoint& point : entry.scan.points)
    entry.keys.push_back(catalog::launch_key(*resolution.kernel, resolution.experiment.problem, point.config));
  for (size_t at = 0; at < entry.scan.points.size(); ++at) {
    ScanPoint& point = entry.scan.points[at];
    if (point.same_as || !point.observation || !is_code_only(*point.observation)) continue;
    point.same_as = timed_twin(entry.scan, entry.keys, at, *point.observation);
    if (!point.same_as) point.observation = nullptr;
  }
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
        entry.keys[at] == entry.keys[point_] && among.known_codes.size() < kMostCodes)
      among.known_codes.push_back(run->variant->code_hash);
    if (entry.discards && run != nullptr && is_correct_and_measured(*run)) {
      const double hopeless = kHopeless * run->timing->interval_high;
      among.hopeless_us = std::min(among.hopeless_us.value_or(hopeless), hopeless);
    }
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
  if (!failure && is_code_only(own_)) point.same_as = timed_twin(entry.scan, entry.keys, point_, own_);
  if (!failure && !point.same_as) failure = lack_of(own_, entry.watch, worker);
  if (failure) own_.failure = std::move(failure);
  if (own_.versions == Versions{}) own_.versions = versions;
  point.observation = share(std::move(own_));
  publish_entry();
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

void ScanLane::publish_entry() { view_.at(entry_) = share(entries_[entry_].scan); }

void ScanLane::publish() {
  std::vector<Shared<Scan>> next;
  for (size_t at = 0; at < entries_.size(); ++at) next.push_back(share(entries_[at].scan));
  view_ = std::move(next);
}

}  // namespace attnscope::session
