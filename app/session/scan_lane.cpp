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

// Adds the manifest's refusal and warnings. choices() assumes that the device can run the kernel.
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

// The time over which a point is hopeless, us; empty as long as nothing correct is measured.
std::optional<double> hopeless_us(const Scan& scan, const Screening& screening) {
  std::optional<double> high = screening.to_beat();
  for (const ScanPoint& point : scan.points) {
    const Observation* run = point.same_as ? nullptr : point.observation.get();
    if (run != nullptr && is_correct_and_measured(*run))
      high = std::min(high.value_or(run->timing->interval_high), run->timing->interval_high);
  }
  return high ? std::optional(ScanLane::kHopeless * *high) : std::nullopt;
}

bool is_code_only(const Observation& run) { return run.variant && !run.timing && !run.failure; }

// The point that was timed with the machine code and the launch of `run`, the run of point `at`.
std::optional<size_t> timed_twin(const Scan& scan, const std::vector<std::string>& keys, size_t at,
                                 const Observation& run) {
  for (size_t other = 0; other < scan.points.size(); ++other) {
    const Observation* timed = scan.points[other].observation.get();
    if (timed != nullptr && timed->timing && timed->variant && timed->variant->code_hash == run.variant->code_hash &&
        keys[other] == keys[at])
      return scan.points[other].same_as.value_or(other);
  }
  return std::nullopt;
}

// The key of a point's time: its machine code and launch. Two points with equal keys share one time. Empty if the point
// has no time.
std::string timed_code(const ScanPoint& point, const std::string& key) {
  const Observation* run = point.same_as ? nullptr : point.observation.get();
  return run != nullptr && run->timing ? code_key(*run, key) : "";
}

// Gives the points, which are in order, one time. A point that stopped early says less than one that did not.
void share_time(Scan& scan, const std::vector<size_t>& twins) {
  if (twins.size() < 2) return;
  const auto full =
      std::ranges::find_if(twins, [&](size_t twin) { return !Screening::is_hopeless(*scan.points[twin].observation); });
  const size_t first = full == twins.end() ? twins.front() : *full;
  for (ScanPoint& point : scan.points)
    if (point.same_as && std::ranges::count(twins, *point.same_as) > 0) point.same_as = first;
  for (const size_t twin : twins)
    if (twin != first) scan.points[twin].same_as = first;
}

// Several points may have been timed with the same machine code and launch, by two workers at once or in earlier runs.
// The time of the first point that is not hopeless counts for all of them, or else the first point's.
void time_once(Scan& scan, const std::vector<std::string>& keys) {
  std::map<std::string, std::vector<size_t>> twins;
  for (size_t at = 0; at < scan.points.size(); ++at)
    if (const std::string code = timed_code(scan.points[at], keys[at]); !code.empty()) twins[code].push_back(at);
  for (const auto& [code, points] : twins) share_time(scan, points);
}

// time_once() when only point `at` is new.
void time_once(Scan& scan, const std::vector<std::string>& keys, size_t at) {
  const std::string code = timed_code(scan.points[at], keys[at]);
  if (code.empty()) return;
  std::vector<size_t> twins;
  for (size_t other = 0; other < scan.points.size(); ++other)
    if (keys[other] == keys[at] && timed_code(scan.points[other], keys[other]) == code) twins.push_back(other);
  share_time(scan, twins);
}

}  // namespace

Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec) {
  Scan scan{request.id, held, {}, {}};
  if (!is_of_configs(request)) scan.failure = unknown_knob(kernel, request.knobs);
  if (scan.failure) return scan;
  std::map<std::string, Shared<Observation>> known;
  for (const Shared<Observation>& run : request.known) known.try_emplace(run->hash, run);
  std::map<std::string, size_t> first;  // experiment hash → its first point that is not refused
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
  Scan scan = plan_scan(request, *resolution.kernel, resolution.experiment, *resolution.place.spec);
  ScanSites sites =
      request.sharing ? ScanSites(resolution.shared_places, *request.sharing) : ScanSites(resolution.place);
  Entry entry{std::move(scan), resolution.kernel, std::move(sites), false, request.discards, request.stays, {}};
  const bool emulated = resolution.place.spec->emulated;
  entry.watch = (request.watch == Watch::always || (request.watch == Watch::emulated && emulated)) &&
                resolution.kernel->library.is_source();
  if (emulated && !entry.watch && !is_of_configs(request)) entry.sample = ScanSample(resolution.experiment.problem);
  for (const ScanPoint& point : entry.scan.points)
    entry.keys.push_back(catalog::launch_key(*resolution.kernel, resolution.experiment.problem, point.config));
  for (size_t at = 0; at < entry.scan.points.size(); ++at) {
    ScanPoint& point = entry.scan.points[at];
    if (point.same_as || !point.observation || !is_code_only(*point.observation)) continue;
    point.same_as = timed_twin(entry.scan, entry.keys, at, *point.observation);
    if (!point.same_as) point.observation = nullptr;
  }
  if (!request.configs.empty()) time_once(entry.scan, entry.keys);
  const auto open = std::ranges::count_if(entry.scan.points, [](const ScanPoint& point) { return !point.ended(); });
  // A time that stopped early is not the one to beat: there is a faster config, which may have to run again.
  const bool beatable = std::ranges::any_of(entry.scan.points, [](const ScanPoint& point) {
    const Observation* run = point.observation.get();
    return run != nullptr && is_correct_and_measured(*run) && !Screening::is_hopeless(*run);
  });
  entry.screening = Screening(entry.discards && !emulated && open >= std::ptrdiff_t(Screening::kFewest) &&
                              entry.scan.held.measure.max_time_ms >= Screening::kFromMs && !beatable);
  // A repeated scan replaces its earlier result. While something runs, entries keep their places.
  for (size_t at = 0; at < entries_.size() && running_.empty(); ++at)
    if (entries_[at].scan.held == entry.scan.held &&
        std::ranges::equal(entries_[at].scan.points, entry.scan.points, {}, &ScanPoint::config, &ScanPoint::config))
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at--));
  // Scans of configs do not displace scans of knobs.
  const auto alike = [of_config = entry.scan.of_config()](const Entry& one) {
    return one.scan.of_config() == of_config;
  };
  insert(std::move(entry));
  while (std::ranges::count_if(entries_, alike) > static_cast<std::ptrdiff_t>(kMostKept)) {
    const auto oldest = std::ranges::find_if(entries_, [&](const Entry& one) { return alike(one) && one.scan.over(); });
    if (oldest == entries_.end()) break;
    if (oldest - entries_.begin() < static_cast<std::ptrdiff_t>(entry_)) --entry_;
    entries_.erase(oldest);
  }
  publish();
}

// Inserts before the unfinished scans that stay.
void ScanLane::insert(Entry entry) {
  const auto waits = [](const Entry& one) { return one.stays && !one.scan.over(); };
  const auto place = entry.stays ? entries_.end() : std::ranges::find_if(entries_, waits);
  if (place != entries_.end() && place - entries_.begin() <= static_cast<std::ptrdiff_t>(entry_)) ++entry_;
  entries_.insert(place, std::move(entry));
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
  experiment.measure.sampled_share = entry.sample.share_of(point, experiment.measure.sampled_share);
  return experiment;
}

ScanLane::Running* ScanLane::find(JobId job) {
  const auto found = std::ranges::find(running_, job, &Running::job);
  return found == running_.end() ? nullptr : &*found;
}

std::optional<ScanLane::Step> ScanLane::next(const LookAt& look) {
  next_.reset();
  if (running_.empty()) entry_ = 0;
  for (; entry_ < entries_.size(); ++entry_) {
    Entry& entry = entries_[entry_];
    auto taken = entry.scan.over() ? std::nullopt : entry.sites.next(entry.scan, look);
    if (!taken && running_.empty() && entry.screening.on() && !entry.sites.has_free(entry.scan)) {
      settle(entry);
      publish_entry();
      taken = entry.sites.next(entry.scan, look);
    }
    if (entry.scan.over()) continue;
    if (taken) {
      next_ = Running{0, *taken, blank_observation(experiment_of(entry, taken->point)), entry.screening.on()};
      return Step{next_->own.experiment, entry.sites.place(taken->site), entry.watch, among(entry, *taken)};
    }
    if (const std::string why = entry.sites.hopeless(look); !why.empty()) {
      if (entry.screening.on()) settle(entry);
      entry.scan.failure = Failure{Stage::device, "no worker is left: " + why,
                                   "What has ended is kept. Check the workers' commands and run the same again."};
      publish_entry();
      continue;
    }
    break;
  }
  return std::nullopt;
}

void ScanLane::started(JobId job) {
  next_->job = job;
  entries_.at(entry_).sites.start(next_->taken);
  entries_[entry_].screening.forget(next_->taken.point);
  running_.push_back(*std::exchange(next_, std::nullopt));
}

protocol::Among ScanLane::among(const Entry& entry, const ScanSites::Taken& taken) const {
  protocol::Among among;
  for (const size_t point : taken.ahead) {
    among.ahead.push_back(experiment_of(entry, point));
    among.ahead.back().device = entry.sites.place(taken.site).local_id;
  }
  // In a shared scan only points before this one count, so that the result does not depend on which worker is faster.
  const size_t known = entry.sites.shared() ? taken.point : entry.scan.points.size();
  // A point that stays after the screening is near the fastest, so it takes no time that stopped early.
  const bool near = entry.screening.has(taken.point);
  for (size_t at = 0; at < entry.scan.points.size(); ++at) {
    const ScanPoint& point = entry.scan.points[at];
    if (near && point.observation && Screening::is_hopeless(*point.observation)) continue;
    if (at < known && entry.keys[at] == entry.keys[taken.point] && among.known_codes.size() < kMostCodes &&
        !timed_code(point, "").empty())
      among.known_codes.push_back(point.observation->variant->code_hash);
  }
  if (entry.screening.on())
    among.hopeless_us = Screening::kBriefly;
  else if (entry.discards)
    among.hopeless_us = hopeless_us(entry.scan, entry.screening);
  return among;
}

void ScanLane::restart(JobId job) {
  Running* running = find(job);
  running->own = blank_observation(running->own.experiment);
}

void ScanLane::take_part(const protocol::Part& part) {
  Running* running = find(part.id);
  if (running == nullptr) return;
  apply_part(running->own, part);
  running->own.device = running->own.experiment.device;  // a named worker uses its own device ids, without its name
}

void ScanLane::finish(JobId job, std::optional<Failure> failure, const std::string& worker, const Versions& versions) {
  const auto found = std::ranges::find(running_, job, &Running::job);
  Running running = std::move(*found);
  running_.erase(found);
  Entry& entry = entries_.at(entry_);
  // A faulty device fails every config that it gets, so another worker's device tries this one too.
  const bool of_device = entry.sites.count() > 1 && failure && failure->stage == Stage::device;
  if (of_device && !entry.sites.lose(running.taken.site, worker, failure->message)) return;
  entry.sites.end(running.taken.site);
  ScanPoint& point = entry.scan.points.at(running.taken.point);
  if (!failure && is_code_only(running.own))
    point.same_as = timed_twin(entry.scan, entry.keys, running.taken.point, running.own);
  if (!failure && !point.same_as) failure = lack_of(running.own, entry.watch, worker);
  if (!failure && !point.same_as && entry.sample.doubts(running.taken.point, running.own)) return;  // it runs again
  end(std::move(running), std::move(failure), versions);
}

bool ScanLane::worker_went(size_t worker, const std::string& name, const std::string& why) {
  const auto of_worker = [&](const Running& one) {
    return entries_.at(entry_).sites.place(one.taken.site).worker == worker;
  };
  const auto found = std::ranges::find_if(running_, of_worker);
  if (found == running_.end() || !entries_[entry_].sites.shared()) return false;
  Running running = std::move(*found);
  running_.erase(found);
  const auto lost = entries_[entry_].sites.lose(running.taken.site, name, why);
  if (!lost) return true;
  running.own = blank_observation(running.own.experiment);
  end(std::move(running),
      Failure{Stage::crash, "twice a worker went away while it had this config: " + *lost,
              "Run it on its own, `attnscope run`, to see what it does to a worker. The next sweep tries it again."},
      {});
  return true;
}

void ScanLane::end(Running running, std::optional<Failure> failure, const Versions& versions) {
  Entry& entry = entries_.at(entry_);
  if (failure) running.own.failure = std::move(failure);
  if (running.own.versions == Versions{}) running.own.versions = versions;
  const bool brief = running.brief && !running.own.failure && Screening::is_brief(running.own);
  if (running.brief) entry.screening.count(running.own);
  if (brief) {
    entry.screening.keep(running.taken.point, share(std::move(running.own)));
    entry.sites.put_off(running.taken.point);
  } else {
    entry.scan.points.at(running.taken.point).observation = share(std::move(running.own));
    if (entry.sites.shared() || entry.discards) time_once(entry.scan, entry.keys, running.taken.point);
  }
  const bool ends = entry.screening.on() ? entry.screening.full() : brief;
  if (ends) settle(entry);
  publish_entry();
}

void ScanLane::settle(Entry& entry) {
  entry.screening.end();
  entry.sites.resume();
  const auto limit = hopeless_us(entry.scan, entry.screening);
  if (!limit) return;
  for (auto& [point, run] : entry.screening.take_slower(*limit, entry.keys)) {
    entry.scan.points.at(point).observation = std::move(run);
    time_once(entry.scan, entry.keys, point);
  }
}

bool ScanLane::keep_for(const Draft& wanted) {
  const auto ends = [&](const Entry& entry) { return !entry.stays && !entry.scan.over() && !entry.scan.holds(wanted); };
  const bool ran = !running_.empty() && ends(entries_.at(entry_));
  if (ran) running_.clear();
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

bool ScanLane::end_early(uint64_t id) {
  std::erase_if(held_, [&](const ScanRequest& request) { return request.id == id; });
  const auto named = [&](const Entry& entry) { return entry.scan.id == id && !entry.scan.over(); };
  const auto found = std::ranges::find_if(entries_, named);
  if (found == entries_.end()) return false;
  const bool ran = !running_.empty() && found - entries_.begin() == static_cast<std::ptrdiff_t>(entry_);
  if (ran) running_.clear();
  if (found->screening.on()) settle(*found);
  found->scan.ended_early = true;
  publish();
  return ran;
}

Shared<Scan> ScanLane::published(const Entry& entry) {
  Scan scan = entry.scan;
  scan.briefly = entry.screening.size();
  return share(std::move(scan));
}

void ScanLane::publish_entry() { view_.at(entry_) = published(entries_[entry_]); }

void ScanLane::publish() {
  std::vector<Shared<Scan>> next;
  for (const Entry& entry : entries_) next.push_back(published(entry));
  view_ = std::move(next);
}

}  // namespace attnscope::session
