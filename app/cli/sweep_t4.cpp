#include "cli/sweep_t4.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "platform/json_file.h"
#include "search/replay.h"
#include "search/t4.h"

namespace attnscope::cli {
namespace {

using search::Invalidity;
using search::T4Result;

constexpr uint64_t kMaxT4File = 1 << 30;
constexpr double kMsPerUs = 1e-3;

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

// It is deterministic, so one run is enough.
search::Scored model_score(const search::Recorded& space) {
  std::vector<std::optional<double>> predicted;
  for (const search::Recorded::Run& run : space.runs) predicted.push_back(run.modelled_ms);
  return search::score_of(space, 1, [&](const search::Grid& grid, uint64_t) {
    return std::make_unique<search::ModelGuided>(grid, predicted, std::vector<size_t>{},
                                                 search::ModelGuided::persistent());
  });
}

struct Score {
  search::StrategyKind kind = search::StrategyKind::random;
  search::Scored evaluations;
  // Empty: the recording lacks the times of the configs or (for model-guided) of the ranking.
  std::optional<search::Scored> seconds;
};

Score score_without_model(const search::Recorded& space, size_t repeats, search::StrategyKind kind) {
  const auto by = [&](search::Budget budget) {
    return search::score_of(
        space, repeats,
        [kind](const search::Grid& grid, uint64_t seed) {
          return search::strategy_without_model(kind, grid, seed, {}, true);
        },
        budget);
  };
  Score score{kind, by(search::Budget::evaluations), {}};
  if (search::mean_seconds(space) > 0) score.seconds = by(search::Budget::seconds);
  return score;
}

Json score_json(const search::Scored& scored) {
  return {{"mean", scored.mean}, {"interval", {scored.low, scored.high}}};
}

Json score_json(const Score& score) {
  Json json = score_json(score.evaluations);
  json["seconds"] = score.seconds ? score_json(*score.seconds) : Json(nullptr);
  return json;
}

std::string scored_text(const search::Scored& scored) {
  return fmt::format("{:>6.3f}  ({:.3f} to {:.3f})", scored.mean, scored.low, scored.high);
}

}  // namespace

Json t4_of(const sweep::Search& search) {
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
  return search::t4_of(results);
}

int replay_t4(const std::string& file, size_t repeats, bool json) {
  auto read = platform::read_json(file, kMaxT4File, Stage::input);
  if (!read) return report(read.error());
  auto space = search::recorded_from_t4(*read, file);
  if (!space) return report(space.error());
  const auto random = search::random_curve(*space);
  if (random.empty())
    return report({Stage::input, file + ": none of its configs is valid", "Record a space that has one."});
  const auto valid = std::ranges::count_if(space->runs, [](const auto& run) { return run.ms.has_value(); });
  const double best =
      std::ranges::min(space->runs, {}, [](const auto& run) { return run.ms.value_or(1e300); }).ms.value();
  std::vector<Score> scores;
  for (const search::StrategyKind kind : {search::StrategyKind::evolutionary, search::StrategyKind::local,
                                          search::StrategyKind::learning, search::StrategyKind::random})
    scores.push_back(score_without_model(*space, repeats, kind));
  if (std::ranges::any_of(space->runs, [](const auto& run) { return run.modelled_ms.has_value(); }))
    scores.push_back({search::StrategyKind::model_guided, model_score(*space), {}});
  const double seconds = search::mean_seconds(*space) * static_cast<double>(random.size());
  if (json) {
    Json by_strategy = Json::object();
    for (const Score& one : scores) by_strategy[word_of(one.kind)] = score_json(one);
    print_result(json_text(Json{{"configs", space->runs.size()},
                                {"valid", valid},
                                {"best_ms", best},
                                {"evaluations", random.size()},
                                {"seconds", seconds},
                                {"repeats", repeats},
                                {"scores", std::move(by_strategy)}},
                           2));
    return kCorrectOrUnchecked;
  }
  std::string out = fmt::format("{}: {} configs of {} knobs, {} valid, the best {:.6g} ms\n", one_line(file),
                                space->runs.size(), space->knobs.size(), valid, best);
  out += fmt::format("P over {} evaluations{}, {} repeats (1: best at once, 0: random)\n", random.size(),
                     seconds > 0 ? fmt::format(", and over {:.0f} s of compiling, running and checking", seconds) : "",
                     repeats);
  for (const Score& one : scores)
    out += fmt::format("  {:<14} {}{}\n", to_string(one.kind), scored_text(one.evaluations),
                       one.seconds ? "  " + scored_text(*one.seconds) : "");
  print_result(out);
  return kCorrectOrUnchecked;
}

}  // namespace attnscope::cli
