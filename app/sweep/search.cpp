#include "sweep/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/standing.h"
#include "core/headline.h"
#include "core/with_commas.h"
#include "search/batch.h"
#include "search/halving.h"
#include "search/learning.h"
#include "search/model_guided.h"
#include "sweep/micro.h"
#include "sweep/twin.h"

namespace attnscope::sweep {
namespace {

using search::StrategyKind;

std::optional<double> accepted_us(const Scan& scan, size_t point) {
  const Observation* seen = scan.timed(point);
  return seen != nullptr && is_accepted(*seen) ? std::optional(seen->timing->p50) : std::nullopt;
}

bool told_apart(const Scan& scan, size_t a, size_t b) {
  const auto outcome = charts::standing_of(*scan.timed(a), *scan.timed(b)).outcome;
  return outcome == charts::Outcome::faster || outcome == charts::Outcome::slower;
}

constexpr int64_t kShortestMs = 30;  // per config in halving: two of the rounds in which samples are taken

}  // namespace

std::string briefly_text(size_t briefly) { return briefly > 0 ? fmt::format(", {} timed briefly", briefly) : ""; }

std::string modelled_text(size_t modelled, size_t to_model) {
  return fmt::format("modelled {} of {}", with_commas(static_cast<int64_t>(modelled)),
                     with_commas(static_cast<int64_t>(to_model)));
}

Search::Search(Plan plan, search::Candidates candidates, const Place& place, Settings settings)
    : plan_(std::move(plan)),
      candidates_(std::move(candidates)),
      place_(place),
      sharing_(sharing_of(place, candidates_.configs)),
      settings_(std::move(settings)),
      run_(*place.session, place.results.get(), plan_.held, this->settings(false, plan_.budget)) {}

Result<void> Search::run() {
  auto strategy = choose();
  if (!strategy) return fail(strategy.error());
  auto tried = try_all(run_, std::move(*strategy), plan_.budget);
  if (!tried) return fail(tried.error());
  points_.resize(tried->size());
  for (const auto& [point, at] : *tried) points_[at] = point;
  for (const Scan& round : dropped_) run_.add(round);
  if (auto gated = gate(); !gated) return gated;
  const auto trouble = place_.results ? place_.results->take_trouble() : std::nullopt;
  if (trouble) notes_.push_back(fmt::format("{}. {}", trouble->message, trouble->hint));
  if (const auto& lost = run_.not_kept())
    notes_.push_back(fmt::format("results are not kept: {}. {}", lost->message, lost->hint));
  return {};
}

Run::Settings Search::settings(bool of_model, size_t budget) {
  Run::Settings settings;
  if (settings_.watch == Watching::everything && !of_model) settings.watch = session::Watch::always;
  settings.fresh = settings_.fresh;
  settings.versions = place_.device.versions_of_runs();
  settings.on_progress = [this, of_model, budget](const RunProgress& now) {
    Progress progress;
    progress.of_model = of_model;
    progress.ended = now.ended;
    progress.briefly = now.briefly;
    progress.most = now.asked;
    progress.at_most = budget > 0;
    if (budget > 0) progress.most = std::min(budget, candidates_.configs.size());
    if (of_model) progress.most = to_model_;
    // A model that takes turns with the device is asked for some configs at a time, so the time left is not known.
    if (now.asked > now.ended && (!of_model || now.asked == to_model_)) progress.left_seconds = now.left_seconds;
    progress.best = now.best;
    progress.to_model = to_model_;
    if (to_model_ > 0) progress.modelled = of_model ? now.ended : model_->ended_by_now();
    tell(progress);
  };
  if (!of_model) settings.sharing = sharing_;
  if (!of_model) settings.on_scan = settings_.on_scan;
  settings.on_look = [this, of_model](const session::Snapshot& now) {
    if (settings_.on_look) settings_.on_look(now);
    if (!of_model && beside_) tell_of_the_model(model_->ended_by_now());  // its scan changes when the device's does not
  };
  settings.new_id = place_.new_id;
  settings.control = settings_.control;
  return settings;
}

void Search::tell(Progress now) {
  told_ = now;
  if (settings_.on_progress) settings_.on_progress(told_);
}

// The device's progress again, with the model's.
void Search::tell_of_the_model(size_t modelled) {
  if (modelled <= told_.modelled) return;
  Progress now = told_;
  now.modelled = modelled;
  tell(now);
}

Result<std::unique_ptr<search::Strategy>> Search::choose() {
  const search::Grid& grid = candidates_.grid;
  const bool guided = plan_.strategy == StrategyKind::model_guided;
  const bool is_model = place_.device.device.emulated && plan_.model.empty();
  if (guided && is_model) {
    notes_.push_back(place_.device.device.id + " is modelled itself, so every config is run: exhaustive");
    plan_.strategy = StrategyKind::exhaustive;
  }
  if (plan_.strategy == StrategyKind::halving && place_.device.device.emulated) {
    notes_.push_back("times of " + place_.device.device.id +
                     " are modelled and do not vary, so every config is run once: exhaustive");
    plan_.strategy = StrategyKind::exhaustive;
  }
  const bool before = settings_.rank_always || settings_.brief;  // rank first
  if (before && ((guided && !is_model) || settings_.rank_always)) {
    if (auto ranked = rank(); !ranked) return fail(ranked.error());
  } else if (guided && !is_model) {
    if (auto prepared = prepare_model(0, true); !prepared) return fail(prepared.error());
  }
  if (plan_.strategy == StrategyKind::halving) return halve();
  if (plan_.strategy == StrategyKind::evolutionary && !place_.resources.empty()) {
    auto seeds = micro_seeds(place_.resources, plan_, candidates_, place_.device, place_.results.get());
    if (seeds) settings_.seeds.insert(settings_.seeds.end(), seeds->configs.begin(), seeds->configs.end());
    const std::string note = seeds ? seeds->note : "no microbenchmark counts: " + seeds.error().message;
    if (!note.empty()) notes_.push_back(note);
  }
  const size_t at_once = sharing_ ? sharing_->devices.size() : 1;
  if (plan_.strategy == StrategyKind::model_guided) {
    search::ModelGuided::Settings settings;
    if (plan_.budget > 0) settings = search::ModelGuided::persistent();
    settings.batch = std::max(settings.batch, at_once);
    std::vector<size_t> unranked;
    if (!before) unranked = search::all_points(grid);
    auto strategy =
        std::make_unique<search::ModelGuided>(grid, plan_.seed, seed_points(), std::move(unranked), settings);
    for (size_t point = 0; before && point < grid.size(); ++point) strategy->modelled(point, predicted_[point]);
    return strategy;
  }
  if (plan_.strategy == StrategyKind::local && settings_.brief)
    return std::make_unique<search::Local>(grid, plan_.seed, seed_points(), search::Local::brief());
  return search::strategy_without_model(plan_.strategy, grid, plan_.seed, seed_points(), plan_.budget > 0, at_once);
}

// The held config and the seeds, if the search may try them.
std::vector<size_t> Search::seed_points() const {
  std::vector<size_t> points;
  std::vector<Config> wanted{plan_.held.config};
  wanted.insert(wanted.end(), settings_.seeds.begin(), settings_.seeds.end());
  for (const Config& config : wanted) {
    const auto found = std::ranges::find(candidates_.configs, config);
    const auto point = static_cast<size_t>(found - candidates_.configs.begin());
    if (found != candidates_.configs.end() && std::ranges::count(points, point) == 0) points.push_back(point);
  }
  return points;
}

// The model is the emulated twin of the device. `budget`: of the configs that it runs.
Result<void> Search::prepare_model(size_t budget, bool beside) {
  auto model = emulated_twin(place_.device.device, plan_.model, place_.emulated);
  if (!model) return fail(model.error());
  auto found = place_.find(model->id);
  if (!found) return fail(found.error());
  session::Session* session = place_.session;
  if (beside && place_.open_beside) {
    auto opened = place_.open_beside();
    if (!opened) return fail(opened.error());
    session = *opened;
  }
  beside_ = session != place_.session;
  plan_.model = model->id;
  Experiment held = plan_.held;
  held.device = model->id;
  held.measure = {};
  held.measure.sampled_share = ranking_share(held.problem);
  Run::Settings with = settings(true, budget);
  with.versions = found->versions;
  if (beside_) with.on_progress = [this](const RunProgress& now) { tell_of_the_model(now.ended); };
  if (beside_) with.on_look = nullptr;
  to_model_ = budget > 0 ? std::min(budget, candidates_.configs.size()) : candidates_.configs.size();
  model_.emplace(*session, place_.results.get(), held, std::move(with));
  predicted_.assign(candidates_.configs.size(), std::nullopt);
  return {};
}

// Models each config, or as many as the settings say, before anything runs on the device.
Result<void> Search::rank() {
  if (auto prepared = prepare_model(settings_.ranked, false); !prepared) return prepared;
  const search::Grid& grid = candidates_.grid;
  // Larger batches than a device's, because all cores compile at the same time.
  const search::Learning::Settings few{.start = 12, .batch = 4, .patience = 0};
  auto all =
      settings_.ranked > 0
          ? std::unique_ptr<search::Strategy>(std::make_unique<search::Learning>(grid, plan_.seed, seed_points(), few))
          : std::make_unique<search::Exhaustive>(grid);
  auto tried = try_all(*model_, std::move(all), settings_.ranked);
  if (!tried) return fail(tried.error());
  for (const auto& [point, at] : *tried) predicted_[point] = accepted_us(model_->scan(), at);
  to_model_ = 0;  // it has ranked
  return {};
}

std::optional<double> Search::predicted(size_t at) const {
  if (predicted_.empty() || at >= points_.size()) return std::nullopt;
  return predicted_.at(points_[at]);
}

Result<Search::Tried> Search::try_all(Run& run, std::unique_ptr<search::Strategy> strategy, size_t budget) {
  Tried index;
  if (run.stopped()) return index;
  search::Search search(std::move(strategy), candidates_.grid.size(), budget,
                        [&](size_t a, size_t b) { return told_apart(run.scan(), index.at(a), index.at(b)); });
  for (auto points = search.next();; points = search.next()) {
    const std::vector<size_t> asked = search.to_model();
    if (points.empty() && asked.empty()) break;
    if (beside_ && !asked.empty())
      if (auto begun = model_->begin(configs_of(asked)); !begun) return fail(begun.error());
    for (const size_t point : points) index.try_emplace(point, index.size());
    if (auto done = points.empty() ? Result<void>{} : run.run(configs_of(points)); !done) return fail(done.error());
    if (run.stopped()) return Tried{};
    if (auto taken = take_predictions(search, asked); !taken) return fail(taken.error());
    for (const size_t point : points) search.tell({point, accepted_us(run.scan(), index.at(point))});
  }
  return index;
}

std::vector<Config> Search::configs_of(const std::vector<size_t>& points) const {
  std::vector<Config> configs;
  for (const size_t point : points) configs.push_back(candidates_.configs[point]);
  return configs;
}

// What the model says of the points that were asked last. It has been running already if it has a session of its own.
Result<void> Search::take_predictions(search::Search& search, const std::vector<size_t>& points) {
  if (points.empty()) return {};
  const size_t before = model_->scan().points.size();
  if (auto done = beside_ ? model_->end() : model_->run(configs_of(points)); !done) return done;
  if (model_->stopped()) return {};
  for (size_t at = 0; at < points.size(); ++at) {
    predicted_[points[at]] = accepted_us(model_->scan(), before + at);
    search.modelled(points[at], predicted_[points[at]]);
  }
  return {};
}

// Runs all rounds but the last, for which the strategy is returned. Dropped configs join the scan after it, with their
// times, so that no config is lost.
Result<std::unique_ptr<search::Strategy>> Search::halve() {
  std::vector<size_t> points = search::entrants(candidates_.grid, plan_.seed, plan_.budget);
  std::vector<int64_t> rounds = search::halving_rounds(points.size(), kShortestMs, plan_.held.measure.max_time_ms);
  std::string told = "halving: ";
  for (size_t round = 0; round + 1 < rounds.size() && points.size() > 1; ++round) {
    Experiment held = plan_.held;
    held.measure.max_time_ms = rounds[round];
    Run::Settings with = settings(false, points.size());
    with.watch = session::Watch::never;
    Run run(*place_.session, place_.results.get(), held, std::move(with));
    auto tried = try_all(run, std::make_unique<search::Listed>(points), 0);
    if (!tried) return fail(tried.error());
    if (run.stopped()) {  // keeps what has finished in this round; nothing runs after it
      dropped_.push_back(run.scan());
      return std::make_unique<search::Listed>(std::vector<size_t>{});
    }
    std::vector<search::Outcome> outcomes;
    for (const size_t point : points) outcomes.push_back({point, accepted_us(run.scan(), tried->at(point))});
    const std::vector<size_t> on = search::better_half(
        outcomes, [&](size_t a, size_t b) { return told_apart(run.scan(), tried->at(a), tried->at(b)); });
    std::vector<size_t> dropped;
    for (const size_t point : points)
      if (std::ranges::count(on, point) == 0) dropped.push_back(tried->at(point));
    std::ranges::sort(dropped);
    dropped_.push_back(only(run.scan(), dropped));
    told += fmt::format("{} configs up to {} ms, then ", points.size(), rounds[round]);
    points = on;
  }
  notes_.push_back(told + fmt::format("{} up to {} ms", points.size(), rounds.back()));
  return std::make_unique<search::Listed>(std::move(points));
}

// Watches the leading configs until all of them are sound: a racy config cannot win, nor tie with the winner.
Result<void> Search::gate() {
  if (settings_.watch == Watching::nothing || !place_.can_watch(plan_.kernel)) return {};
  for (bool told = false; !run_.stopped(); told = true) {
    std::vector<size_t> leaders = leaders_of(run_.scan());
    if (settings_.watch == Watching::fastest && !leaders.empty())
      leaders = {*std::ranges::min_element(leaders, {}, [&](size_t at) { return accepted_us(run_.scan(), at); })};
    std::vector<size_t> unwatched;
    for (const size_t point : leaders)
      if (!run_.scan().timed(point)->watch) unwatched.push_back(point);
    if (unwatched.empty()) return {};
    if (settings_.on_gate && !told) settings_.on_gate();
    if (auto done = run_.watch(unwatched); !done) return done;
  }
  return {};
}

}  // namespace attnscope::sweep
