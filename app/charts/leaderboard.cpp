#include "charts/leaderboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "charts/format.h"
#include "core/comparable.h"
#include "core/headline.h"
#include "model/bars.h"
#include "model/ceilings.h"

namespace attnscope::charts {
namespace {

// The runs of one problem and device.
struct Group {
  std::vector<DatedRun> runs;  // oldest first
};

bool belongs(const Group& group, const Observation& run) {
  const Observation& first = *group.runs.front().run;
  if (comparable(first, run) == Unlike::none) return true;
  // A run without a time is matched by problem and device.
  return (!run.timing || !first.timing) && first.experiment.problem == run.experiment.problem &&
         first.device == run.device && first.versions.gpu == run.versions.gpu;
}

// Experiments that differ only in their time limit, such as the rounds of a halving, have the same key.
std::string key_of(const Observation& run) {
  const int64_t usual = MeasurePolicy{}.max_time_ms;
  if (run.experiment.measure.max_time_ms == usual) return run.hash;
  Experiment timed_as_usual = run.experiment;
  timed_as_usual.measure.max_time_ms = usual;
  return hash_of(timed_as_usual);
}

// The run whose watch found an error, by the key of its experiment. It excludes every run of that experiment.
using Racy = std::map<std::string, const Observation*>;

// An unranked entry with the watch's error in `racy`.
Unranked unranked_by_watch(const DatedRun& of, const Observation& racy) {
  const Headline headline = *headline_of(racy);
  const auto found = std::ranges::find_if(racy.watch->findings, [&](const Finding& one) {
    return one.severity == Severity::error && one.rule.headline() == headline;
  });
  return {of, std::string(word_of(headline)), found->sentence};
}

// An unranked entry for a run that is not accepted.
Unranked unranked(const DatedRun& of) {
  const Observation& run = *of.run;
  if (run.failure) return {of, std::string(word_of(run.failure->stage)), run.failure->message};
  if (is_racy(run)) return unranked_by_watch(of, run);
  const std::string why(word_of(headline_of(run).value_or(Headline::unchecked)));
  return {of, why, run.verdict ? run.verdict->reason : ""};
}

// False if the time ran out before the interval was narrow, as in a short round of a halving: its few samples may be
// the lucky ones.
bool is_timed_in_full(const Observation& run) {
  const Timing& timing = *run.timing;
  if (timing.kind != FigureKind::measured || run.experiment.measure.max_time_ms >= MeasurePolicy{}.max_time_ms)
    return true;
  return timing.sampling && timing.sampling->stopped == Stopped::stable;
}

bool is_impossible(const Observation& run, double floor_us) { return run.timing->p50 < floor_us; }

// `ranked`: keys of the experiments whose runs count.
std::vector<DatedRun> records_of(const std::vector<DatedRun>& runs, const std::set<std::string>& ranked,
                                 double floor_us) {
  std::vector<DatedRun> records;
  for (const DatedRun& one : runs) {
    if (!ranked.contains(key_of(*one.run)) || !is_accepted(*one.run) || is_impossible(*one.run, floor_us) ||
        !is_timed_in_full(*one.run))
      continue;
    if (records.empty() || standing_of(*records.back().run, *one.run).outcome == Outcome::faster)
      records.push_back(one);
  }
  return records;
}

// Of those before `same`, how many times are told apart from the one at `at`; the times ascend. Only times that are
// near it are compared.
size_t told_apart_before(const std::vector<model::ModelledTime>& times, size_t same, size_t at) {
  const model::ApartFrom from = model::apart_from();
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(same);
  const auto beyond = [own = times[at].us](double ratio) {
    return [own, ratio](const model::ModelledTime& time) { return own / time.us > ratio; };
  };
  const auto near = std::partition_point(times.begin(), end, beyond(from.always));
  const auto as_good = std::partition_point(near, end, beyond(from.never));
  const auto apart = [&](const model::ModelledTime& time) { return model::paired(time, times[at]).told_apart(); };
  return static_cast<size_t>(near - times.begin() + std::count_if(near, as_good, apart));
}

// The ranks that standing_of() gives; the times ascend. Of measured times it counts ends of intervals instead of
// comparing each with each: there may be many thousands.
void set_ranks(std::vector<Leader>& leaders) {
  std::vector<model::ModelledTime> modelled;
  for (const Leader& leader : leaders) modelled.push_back(model::modelled_time(*leader.of.run));
  std::vector<double> lows, highs;  // ends of the intervals of [0, same), ascending
  const auto put = [](std::vector<double>& sorted, double end) {
    sorted.insert(std::ranges::upper_bound(sorted, end), end);
  };
  size_t same = 0;  // the first leader whose time reads the same
  std::string read;
  for (size_t at = 0; at < leaders.size(); ++at) {
    const Observation& own = *leaders[at].of.run;
    const Timing& time = *own.timing;
    if (std::string text = us_text(time.p50); text != read) {
      for (; same < at; ++same) {
        put(lows, leaders[same].of.run->timing->interval_low);
        put(highs, leaders[same].of.run->timing->interval_high);
      }
      read = std::move(text);
    }
    if (time.kind == FigureKind::modelled) {
      leaders[at].rank += told_apart_before(modelled, same, at);
    } else {
      const auto ended = std::ranges::lower_bound(highs, time.interval_low) - highs.begin();
      const auto begins_later = lows.end() - std::ranges::upper_bound(lows, time.interval_high);
      leaders[at].rank += static_cast<size_t>(ended + begins_later);
    }
  }
}

// The bounds of the ratio of two times, from what is known about each.
std::pair<double, double> ratio_bounds(const Observation& first, const Observation& own) {
  if (own.timing->kind == FigureKind::modelled) {
    const model::Paired both = model::paired(first, own);
    return {both.low, both.high};
  }
  return {own.timing->interval_low / first.timing->interval_high,
          own.timing->interval_high / first.timing->interval_low};
}

void rank(std::vector<Leader>& leaders, size_t most) {
  const auto us = [](const Leader& leader) { return leader.of.run->timing->p50; };
  std::ranges::stable_sort(leaders, {}, us);
  set_ranks(leaders);
  std::map<size_t, size_t> of_rank;  // the number of leaders with each rank, also of those that are cut
  for (const Leader& one : leaders) ++of_rank[one.rank];
  if (most > 0 && leaders.size() > most) leaders.resize(most);
  for (size_t at = 0; at < leaders.size(); ++at) {
    const Observation& own = *leaders[at].of.run;
    leaders[at].against_first = standing_of(*leaders.front().of.run, own);
    if (at == 0) continue;
    std::tie(leaders[at].ratio_low, leaders[at].ratio_high) = ratio_bounds(*leaders.front().of.run, own);
  }
  for (Leader& one : leaders) one.tie = of_rank[one.rank] > 1;
}

Leaderboard board_of(const Group& group, const Racy& racy, const SpecOf& spec_of, size_t most) {
  Leaderboard board;
  const Observation& sample = *group.runs.front().run;
  if (const auto spec = spec_of(sample)) board.floor_us = model::floor_us(*spec, sample.experiment.problem);
  // By key: the run that was timed longest, and of equal ones the newest.
  std::map<std::string, const DatedRun*> counts;
  for (const DatedRun& one : group.runs) {
    const DatedRun*& other = counts[key_of(*one.run)];
    if (other == nullptr || one.run->experiment.measure.max_time_ms >= other->run->experiment.measure.max_time_ms)
      other = &one;
  }
  std::set<std::string> ranked;
  for (const DatedRun& one : group.runs) {
    const std::string key = key_of(*one.run);
    if (counts[key] != &one) continue;
    const Observation& run = *one.run;
    if (!is_accepted(run)) {
      board.unranked.push_back(unranked(one));
    } else if (const auto found = racy.find(key); found != racy.end()) {
      board.unranked.push_back(unranked_by_watch(one, *found->second));
    } else if (is_impossible(run, board.floor_us)) {
      board.unranked.push_back({one, "impossible",
                                fmt::format("{} is less than {}, which the device takes at its data sheet's rates",
                                            us_text(run.timing->p50), us_text(board.floor_us)),
                                true});
    } else {
      board.leaders.push_back({one, 1, false, {}});
      ranked.insert(key);
    }
  }
  board.records = records_of(group.runs, ranked, board.floor_us);
  rank(board.leaders, most);
  return board;
}

}  // namespace

std::vector<Beaten> beaten_by(const Leaderboard& board, size_t row) {
  std::vector<Beaten> beaten;
  const Observation& own = *board.leaders[row].of.run;
  for (size_t at = row + 1; at < board.leaders.size(); ++at) {  // the fastest come first
    const Observation& other = *board.leaders[at].of.run;
    const Standing standing = standing_of(own, other);
    if (standing.outcome != Outcome::slower) continue;
    const auto [low, high] = ratio_bounds(own, other);
    beaten.push_back({at, standing.ratio, low, high});
  }
  return beaten;
}

std::vector<Leaderboard> leaderboards(std::vector<DatedRun> runs, const SpecOf& spec_of, size_t most) {
  std::ranges::stable_sort(runs, {}, &DatedRun::finished_at);
  Racy racy;
  for (const DatedRun& one : runs)
    if (is_racy(*one.run)) racy[key_of(*one.run)] = one.run.get();
  std::vector<Group> groups;
  // Runs with a time come first; a run without one joins the group of its problem and device.
  for (const bool timed : {true, false})
    for (const DatedRun& one : runs) {
      if (one.run->timing.has_value() != timed) continue;
      const auto found = std::ranges::find_if(groups, [&](const Group& group) { return belongs(group, *one.run); });
      if (found == groups.end())
        groups.push_back({{one}});
      else
        found->runs.push_back(one);
    }
  std::vector<Leaderboard> boards;
  for (Group& group : groups) {
    std::ranges::stable_sort(group.runs, {}, &DatedRun::finished_at);
    boards.push_back(board_of(group, racy, spec_of, most));
  }
  return boards;
}

}  // namespace attnscope::charts
