#include "cli/sweep_run.h"

#include <algorithm>
#include <utility>

#include "cli/scan_wait.h"
#include "cli/sweep_board.h"
#include "platform/clock.h"

namespace attnscope::cli {
namespace {

uint64_t next_scan_id() {
  static uint64_t id = 0;
  return ++id;
}

bool is_the_configs(Stage stage) {
  switch (stage) {
    case Stage::input:
    case Stage::compile:
    case Stage::limits:
    case Stage::decode:
    case Stage::launch:
    case Stage::deadline:
      return true;
    case Stage::catalog:
    case Stage::device:
    case Stage::crash:
    case Stage::cancelled:
    case Stage::check:
    case Stage::store:
    case Stage::protocol:
    case Stage::internal:
      return false;
  }
  return false;
}

}  // namespace

bool answers_again(const Observation& earlier, const Versions& now, bool watched) {
  Versions was = earlier.versions, is = now;
  if (was.gpu.empty() && is.gpu.empty()) was.driver = is.driver = "";  // emulated: a driver takes no part
  if (was != is) return false;
  if (earlier.failure) return is_the_configs(earlier.failure->stage);
  return earlier.timing && earlier.verdict && (!watched || earlier.watch);
}

Experiment SweepRun::experiment_of(const Config& config) const {
  Experiment experiment = held_;
  experiment.config = config;
  return experiment;
}

Result<void> SweepRun::look_up(const Config& config) {
  if (results_ == nullptr || settings_.fresh) return {};
  const std::string hash = hash_of(experiment_of(config));
  auto earlier = results_->newest(hash);
  if (!earlier) return fail(earlier.error());
  if (!*earlier) return {};
  Observation& run = (*earlier)->observation;
  if (!answers_again(run, settings_.versions, settings_.watch != session::Watch::never)) return {};
  runs_[hash] = session::share(std::move(run));
  kept_.insert(hash);
  ++known_;
  return {};
}

void SweepRun::keep(const Observation& observation) {
  const bool has_result = observation.failure || observation.timing;
  if (results_ == nullptr || not_kept_ || !has_result) return;
  if (auto kept = results_->append(observation, platform::wall_seconds()); !kept) not_kept_ = kept.error();
}

void SweepRun::show_progress(const Scan& scan, size_t ended_before, double began_ms) const {
  if (!settings_.on_progress) return;
  SweepProgress progress;
  progress.asked = scan.points.size();
  progress.ended = static_cast<size_t>(std::ranges::count_if(scan.points, &ScanPoint::ended));
  for (size_t at = 0; at < scan.points.size(); ++at) {
    const Observation* run = scan.timed(at);
    if (run != nullptr && is_accepted(*run) &&
        (progress.best == nullptr || run->timing->p50 < progress.best->timing->p50))
      progress.best = run;
  }
  if (progress.ended > ended_before) {
    const double each = (platform::steady_ms() - began_ms) / static_cast<double>(progress.ended - ended_before);
    progress.left_seconds = each * static_cast<double>(progress.asked - progress.ended) / 1000;
  }
  settings_.on_progress(progress);
}

Result<session::Shared<Scan>> SweepRun::ask(const std::vector<Config>& configs, session::Watch watch,
                                            const std::vector<session::Shared<Observation>>& known) {
  session::ScanRequest request;
  request.id = next_scan_id();
  request.draft = held_;
  request.watch = watch;
  request.known = known;
  request.configs = configs;
  request.sharing = settings_.sharing;
  request.discards = watch == session::Watch::never;  // what is watched leads
  const double began = platform::steady_ms();
  std::optional<size_t> before;  // ended at the first look
  const auto look = [&](const Scan& now) {
    for (const ScanPoint& point : now.points)
      if (point.observation && kept_.insert(point.observation->hash).second) keep(*point.observation);
    if (!before) before = static_cast<size_t>(std::ranges::count_if(now.points, &ScanPoint::ended));
    show_progress(now, *before, began);
  };
  auto scan = scan_and_wait(session_, std::move(request), look, settings_.on_look);
  if (scan->failure) return fail(*scan->failure);
  for (const ScanPoint& point : scan->points)
    if (point.observation) runs_[point.observation->hash] = point.observation;
  return scan;
}

Result<void> SweepRun::run(const std::vector<Config>& configs) {
  std::vector<Config> all;
  for (const ScanPoint& point : scan_.points) all.push_back(point.config);
  for (const Config& config : configs) {
    if (auto looked = look_up(config); !looked) return looked;
    all.push_back(config);
  }
  std::vector<session::Shared<Observation>> known;
  for (const auto& [hash, run] : runs_) known.push_back(run);
  auto scan = ask(all, settings_.watch, known);
  if (!scan) return fail(scan.error());
  scan_ = **scan;
  return {};
}

Result<void> SweepRun::watch(const std::vector<size_t>& points) {
  std::vector<Config> configs;
  for (const size_t point : points) {
    configs.push_back(scan_.points.at(point).config);
    kept_.erase(hash_of(experiment_of(configs.back())));
  }
  auto watched = ask(configs, session::Watch::always, {});
  if (!watched) return fail(watched.error());
  for (size_t at = 0; at < points.size(); ++at)
    if (const auto& seen = (*watched)->points.at(at); seen.observation && !seen.same_as)
      scan_.points[points[at]].observation = seen.observation;
  return {};
}

}  // namespace attnscope::cli
