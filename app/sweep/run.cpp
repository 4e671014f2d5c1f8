#include "sweep/run.h"

#include <algorithm>
#include <utility>

#include "core/headline.h"
#include "platform/clock.h"
#include "sweep/board.h"
#include "sweep/wait.h"

namespace attnscope::sweep {
namespace {

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

size_t ended_of(const Scan& scan) { return static_cast<size_t>(std::ranges::count_if(scan.points, &ScanPoint::ended)); }

}  // namespace

bool answers_again(const Observation& earlier, const Versions& now, bool watched) {
  Versions was = earlier.versions, is = now;
  if (was.gpu.empty() && is.gpu.empty()) was.driver = is.driver = "";  // emulated: the driver does not matter
  if (was != is) return false;
  if (earlier.failure) return is_the_configs(earlier.failure->stage);
  return earlier.timing && earlier.verdict && (!watched || earlier.watch);
}

Experiment Run::experiment_of(const Config& config) const {
  Experiment experiment = held_;
  experiment.config = config;
  return experiment;
}

Result<void> Run::look_up(const Config& config) {
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

void Run::keep(const Observation& observation) {
  const bool has_result = observation.failure || observation.timing;
  if (results_ == nullptr || not_kept_ || !has_result) return;
  if (auto kept = results_->append(observation, platform::wall_seconds()); !kept) not_kept_ = kept.error();
}

size_t Run::ended_by_now() const {
  if (!begun_) return scan_.points.size();
  const auto snapshot = session_.snapshot();
  const auto found = std::ranges::find(snapshot->scans, begun_->id, [](const auto& scan) { return scan->id; });
  if (found == snapshot->scans.end()) return scan_.points.size();
  return std::max(scan_.points.size(), ended_of(**found));
}

void Run::show_progress(const Scan& scan, size_t ended_before, double began_ms) const {
  if (!settings_.on_progress) return;
  RunProgress progress;
  progress.asked = scan.points.size();
  progress.ended = ended_of(scan);
  progress.briefly = scan.briefly;
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

Result<session::Shared<Scan>> Run::answer_once(uint64_t id, bool again) {
  const double began = platform::steady_ms();
  std::optional<size_t> before;  // finished when last checked
  ScanWait wait;
  wait.watch = settings_.on_look;
  wait.look = [&](const session::Shared<Scan>& now) {
    for (const ScanPoint& point : now->points)
      if (point.observation && kept_.insert(point.observation->hash).second) keep(*point.observation);
    if (!before) before = ended_of(*now);
    if (settings_.on_scan && !again) settings_.on_scan(now);
    show_progress(*now, *before, began);
  };
  if (settings_.control != nullptr) wait.interrupted = [this] { return settings_.control->interrupts(); };
  auto scan = wait_for_scan(session_, id, wait);
  if (scan && scan->failure) return fail(*scan->failure);
  if (scan && !held_.kernel_hash.empty() && scan->held.kernel_hash != held_.kernel_hash)
    return fail(Stage::input, held_.kernel + " was edited while it was swept", "Start the sweep again.");
  if (scan) learn(*scan);
  return scan;
}

void Run::learn(const Scan& scan) {
  for (const ScanPoint& point : scan.points)
    if (point.observation) runs_[point.observation->hash] = point.observation;
}

session::ScanRequest Run::request_for(const std::vector<Config>& configs, session::Watch watch) const {
  session::ScanRequest request;
  request.draft = held_;
  request.watch = watch;
  request.configs = configs;
  request.sharing = settings_.sharing;
  request.discards = watch == session::Watch::never;  // what is watched leads, so it must be timed in full
  request.stays = true;
  return request;
}

bool Run::ask(session::ScanRequest& request, bool again) {
  if (settings_.control != nullptr && !settings_.control->may_go_on()) return false;
  request.id = settings_.new_id();
  request.known.clear();
  for (const auto& [hash, run] : runs_)
    if (!again || run->watch) request.known.push_back(run);
  session_.scan(request);
  return true;
}

// A pause ends the scan; unfinished configs are requested again after it. Null: it was stopped without any result.
Result<session::Shared<Scan>> Run::answer(session::ScanRequest request, bool asked, bool again) {
  session::Shared<Scan> last;
  for (;; asked = false) {
    if (!asked && !ask(request, again)) return last;
    auto scan = answer_once(request.id, again);
    if (!scan) return scan;
    if (*scan) last = std::move(*scan);
    if (last && last->over() && !last->ended_early) return last;
  }
}

Result<void> Run::run(const std::vector<Config>& configs) {
  if (auto begun = begin(configs); !begun) return begun;
  return end();
}

Result<void> Run::begin(const std::vector<Config>& configs) {
  std::vector<Config> all;
  for (const ScanPoint& point : scan_.points) all.push_back(point.config);
  for (const Config& config : configs) {
    if (auto looked = look_up(config); !looked) return looked;
    all.push_back(config);
  }
  session::ScanRequest request = request_for(all, settings_.watch);
  if (ask(request, false)) begun_ = std::move(request);
  return {};
}

Result<void> Run::end() {
  if (!begun_) return {};
  auto scan = answer(*std::exchange(begun_, std::nullopt), true, false);
  if (!scan) return fail(scan.error());
  if (!*scan) return {};
  std::vector<size_t> ended;
  for (size_t at = 0; at < (*scan)->points.size(); ++at)
    if ((*scan)->points[at].ended()) ended.push_back(at);
  scan_ = ended.size() == (*scan)->points.size() ? **scan : only(**scan, ended);
  return {};
}

void Run::add(const Scan& ended) {
  const size_t before = scan_.points.size();
  for (ScanPoint point : ended.points) {
    if (point.same_as) *point.same_as += before;
    scan_.points.push_back(std::move(point));
  }
  if (settings_.on_scan) settings_.on_scan(session::share(Scan(scan_)));
}

Result<void> Run::watch(const std::vector<size_t>& points) {
  std::vector<Config> configs;
  for (const size_t point : points) {
    configs.push_back(scan_.points.at(point).config);
    kept_.erase(hash_of(experiment_of(configs.back())));
  }
  auto watched = answer(request_for(configs, session::Watch::always), false, true);
  if (!watched) return fail(watched.error());
  if (!*watched) return {};
  for (size_t at = 0; at < points.size(); ++at)
    if (const auto& seen = (*watched)->points.at(at); seen.observation && !seen.same_as)
      scan_.points[points[at]].observation = seen.observation;
  if (settings_.on_scan) settings_.on_scan(session::share(Scan(scan_)));
  return {};
}

}  // namespace attnscope::sweep
