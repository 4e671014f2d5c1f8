#include "cli/sweep_t4.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "search/kernel_tuner_cache.h"
#include "search/model_guided.h"
#include "search/recorded_file.h"
#include "search/replay.h"
#include "search/t4.h"

namespace attnscope::cli {
namespace {

using search::Invalidity;
using search::T4Result;

constexpr uint64_t kMaxRecording = 1 << 30;
constexpr double kMsPerUs = 1e-3, kPercent = 100;

// Only the knobs that the sweep chose.
T4Result result_of(const Config& config, const sweep::Plan& plan, Invalidity invalidity) {
  T4Result result;
  result.invalidity = invalidity;
  for (const search::Axis& axis : plan.space.axes)
    result.configuration.emplace_back(axis.knob, search::value_json(plan.kernel, axis, axis.value_in(config)));
  return result;
}

Invalidity invalidity_of(const Observation* run) {
  if (run == nullptr || !run->failure) return Invalidity::correctness;
  switch (run->failure->stage) {
    case Stage::compile:
      return Invalidity::compile;
    case Stage::limits:
    case Stage::input:
      return Invalidity::constraints;
    case Stage::deadline:
      return Invalidity::timeout;
    default:
      return Invalidity::runtime;
  }
}

constexpr size_t kFirst = 10;  // configs

struct Score {
  search::StrategyKind kind = search::StrategyKind::random;
  // Without seconds if the recording lacks the times of the configs or (for model-guided) of the ranking.
  search::Scores scores;
};

search::MakeStrategy maker_of(search::StrategyKind kind, const search::Recorded& space) {
  if (kind != search::StrategyKind::model_guided)
    return [kind](const search::Grid& grid, uint64_t seed) {
      return search::strategy_without_model(kind, grid, seed, {}, true);
    };
  std::vector<size_t> can_be_modelled;
  for (size_t point = 0; point < space.runs.size(); ++point)
    if (space.runs[point].modelled_ms) can_be_modelled.push_back(point);
  return [can_be_modelled](const search::Grid& grid, uint64_t seed) -> std::unique_ptr<search::Strategy> {
    return std::make_unique<search::ModelGuided>(grid, seed, std::vector<size_t>{}, can_be_modelled,
                                                 search::ModelGuided::persistent());
  };
}

Score score_of(const search::Recorded& space, size_t repeats, size_t cores, search::StrategyKind kind) {
  Score score{kind, search::score_of(space, repeats, maker_of(kind, space), cores, kFirst)};
  if (kind == search::StrategyKind::model_guided && !search::has_modelling_seconds(space)) score.scores.seconds.reset();
  return score;
}

Json score_json(const search::Scored& scored) {
  return {{"mean", scored.mean}, {"interval", {scored.low, scored.high}}};
}

Json score_json(const search::Scores& score) {
  Json json = score_json(score.evaluations);
  json["seconds"] = score.seconds ? score_json(*score.seconds) : Json(nullptr);
  json["short_of_best_after_10"] = score.short_of_best;
  return json;
}

std::string scored_text(const search::Scored& scored) {
  return fmt::format("{:>6.3f}  ({:.3f} to {:.3f})", scored.mean, scored.low, scored.high);
}

std::vector<T4Result> results_of(const sweep::Search& search) {
  const Scan& scan = search.scan();
  const sweep::Plan& plan = search.plan();
  std::vector<T4Result> results;
  for (size_t at = 0; at < scan.points.size(); ++at) {
    const Observation* run = scan.timed(at);
    const Observation* own = scan.points[at].observation.get();
    const bool correct = run != nullptr && is_accepted(*run);
    T4Result result = result_of(scan.points[at].config, plan, correct ? Invalidity::correct : invalidity_of(run));
    if (const auto us = search.predicted(at)) result.modelled_ms = *us * kMsPerUs;
    if (own != nullptr && own->variant) result.compile_ms = own->variant->compile_ms;
    if (correct) {
      result.ms = run->timing->p50 * kMsPerUs;
      if (own == run && run->timing->sampling)
        for (const auto& round : run->timing->sampling->rounds)
          for (const double us : round) result.runtimes_ms.push_back(us * kMsPerUs);
    }
    results.push_back(std::move(result));
  }
  for (const search::Excluded& one : search.candidates().excluded)
    results.push_back(result_of(one.config, plan, Invalidity::constraints));
  return results;
}

// Of attention the sizes of its work: query rows, heads, batch.
std::vector<int64_t> sizes_of(const Problem& problem) {
  constexpr size_t kMost = 3;
  if (problem.is_attention()) return {problem.seq_q, problem.heads, problem.batch};
  std::vector<int64_t> sizes;
  for (const auto& [name, size] : problem.sizes)
    if (sizes.size() < kMost) sizes.push_back(size);
  return sizes;
}

}  // namespace

Json t4_of(const sweep::Search& search) { return search::t4_of(results_of(search)); }

std::string cache_of(const sweep::Search& search, const DeviceSpec& device) {
  const sweep::Plan& plan = search.plan();
  search::CacheHead head{plan.kernel.id, device.name, sizes_of(plan.held.problem), {}};
  if (device.emulated) head.device += " (" + device.id + ")";  // its times are modelled
  for (const search::Axis& axis : plan.space.axes) {
    std::vector<Json>& values = head.values.emplace_back(axis.knob, std::vector<Json>()).second;
    for (const int64_t value : axis.values) values.push_back(search::value_json(plan.kernel, axis, value));
  }
  return search::cache_text(head, results_of(search));
}

int replay_t4(const std::string& file, size_t repeats, size_t cores, bool json) {
  auto read = platform::read_file(file, kMaxRecording);
  if (!read) return report(read.error());
  auto space = search::recorded_from_text(*read, file);
  if (!space) return report(space.error());
  const auto random = search::random_curve(*space);
  if (random.empty())
    return report({Stage::input, file + ": none of its configs is valid", "Record a space that has one."});
  const auto valid = std::ranges::count_if(space->runs, [](const auto& run) { return run.ms.has_value(); });
  const double best =
      std::ranges::min(space->runs, {}, [](const auto& run) { return run.ms.value_or(1e300); }).ms.value();
  std::vector<Score> scores;
  std::vector<search::StrategyKind> kinds{search::StrategyKind::evolutionary, search::StrategyKind::local,
                                          search::StrategyKind::learning, search::StrategyKind::random};
  if (std::ranges::any_of(space->runs, [](const auto& run) { return run.modelled_ms.has_value(); }))
    kinds.push_back(search::StrategyKind::model_guided);
  for (const search::StrategyKind kind : kinds) scores.push_back(score_of(*space, repeats, cores, kind));
  const double seconds = search::mean_seconds(*space) * static_cast<double>(random.size());
  if (json) {
    Json by_strategy = Json::object();
    for (const Score& one : scores) by_strategy[word_of(one.kind)] = score_json(one.scores);
    print_result(json_text(Json{{"configs", space->runs.size()},
                                {"valid", valid},
                                {"best_ms", best},
                                {"evaluations", random.size()},
                                {"seconds", seconds},
                                {"repeats", repeats},
                                {"cores", cores},
                                {"scores", std::move(by_strategy)}},
                           2));
    return kCorrectOrUnchecked;
  }
  std::string out = fmt::format("{}: {} configs of {} knobs, {} valid, the best {:.6g} ms\n", one_line(file),
                                space->runs.size(), space->knobs.size(), valid, best);
  out += fmt::format(
      "P over {} evaluations{}, {} repeats (1: best at once, 0: random); how far the best of the first "
      "{} is from the best, in the median\n",
      random.size(), seconds > 0 ? fmt::format(", and over {:.0f} s of compiling, running and checking", seconds) : "",
      repeats, kFirst);
  for (const auto& [kind, one] : scores)
    out += fmt::format("  {:<14} {}  {}  {:>5.1f} %\n", to_string(kind), scored_text(one.evaluations),
                       one.seconds ? scored_text(*one.seconds) : std::string(scored_text({}).size(), ' '),
                       kPercent * one.short_of_best[one.short_of_best.size() / 2]);
  print_result(out);
  return kCorrectOrUnchecked;
}

}  // namespace attnscope::cli
