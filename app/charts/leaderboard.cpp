#include "charts/leaderboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "charts/format.h"
#include "core/comparable.h"
#include "core/headline.h"
#include "model/bars.h"
#include "model/ceilings.h"

namespace attnscope::charts {
namespace {

// Of one problem and device.
struct Group {
  std::vector<DatedRun> runs;  // oldest first
};

bool belongs(const Group& group, const Observation& run) {
  const Observation& first = *group.runs.front().run;
  if (comparable(first, run) == Unlike::none) return true;
  // What has no time belongs to its problem and device.
  return (!run.timing || !first.timing) && first.experiment.problem == run.experiment.problem &&
         first.device == run.device && first.versions.gpu == run.versions.gpu;
}

std::string why_not(const Observation& run) {
  if (run.failure) return std::string(to_string(run.failure->stage));
  const auto headline = headline_of(run);
  return headline ? std::string(to_string(*headline)) : "unchecked";
}

std::string reason_of(const Observation& run) {
  if (run.failure) return run.failure->message;
  return run.verdict ? run.verdict->reason : "";
}

bool is_impossible(const Observation& run, double floor_us) { return run.timing->p50 < floor_us; }

std::vector<DatedRun> records_of(const std::vector<DatedRun>& runs, double floor_us) {
  std::vector<DatedRun> records;
  for (const DatedRun& one : runs) {
    if (!is_accepted(*one.run) || is_impossible(*one.run, floor_us)) continue;
    if (records.empty() || standing_of(*records.back().run, *one.run).outcome == Outcome::faster)
      records.push_back(one);
  }
  return records;
}

void rank(std::vector<Leader>& leaders, size_t most) {
  const auto us = [](const Leader& leader) { return leader.of.run->timing->p50; };
  std::ranges::stable_sort(leaders, {}, us);
  if (most > 0 && leaders.size() > most) leaders.resize(most);
  for (size_t at = 0; at < leaders.size(); ++at) {
    const Observation& own = *leaders[at].of.run;
    for (size_t before = 0; before < at; ++before)
      if (standing_of(*leaders[before].of.run, own).outcome == Outcome::slower) ++leaders[at].rank;
    const Timing &first = *leaders.front().of.run->timing, &time = *own.timing;
    leaders[at].against_first = standing_of(*leaders.front().of.run, own);
    if (at == 0) continue;
    leaders[at].ratio_low = time.interval_low / first.interval_high;
    leaders[at].ratio_high = time.interval_high / first.interval_low;
    if (time.kind != FigureKind::modelled) continue;
    const model::Paired both = model::paired(*leaders.front().of.run, own);
    leaders[at].ratio_low = both.low;
    leaders[at].ratio_high = both.high;
  }
  for (Leader& one : leaders) one.tie = std::ranges::count(leaders, one.rank, &Leader::rank) > 1;
}

Leaderboard board_of(const Group& group, const SpecOf& spec_of, size_t most) {
  Leaderboard board;
  const Observation& sample = *group.runs.front().run;
  if (const DeviceSpec* spec = spec_of(sample)) board.floor_us = model::floor_us(*spec, sample.experiment.problem);
  std::map<std::string, const DatedRun*> newest;  // by the experiment's hash
  for (const DatedRun& one : group.runs) newest[one.run->hash] = &one;
  for (const DatedRun& one : group.runs) {
    if (newest[one.run->hash] != &one) continue;
    const Observation& run = *one.run;
    if (!is_accepted(run))
      board.unranked.push_back({one, why_not(run), reason_of(run)});
    else if (is_impossible(run, board.floor_us))
      board.unranked.push_back({one, "impossible",
                                fmt::format("{} is less than {}, which the device takes at its data sheet's rates",
                                            us_text(run.timing->p50), us_text(board.floor_us))});
    else
      board.leaders.push_back({one, 1, false, {}});
  }
  board.records = records_of(group.runs, board.floor_us);
  rank(board.leaders, most);
  return board;
}

}  // namespace

std::vector<Leaderboard> leaderboards(std::vector<DatedRun> runs, const SpecOf& spec_of, size_t most) {
  std::ranges::stable_sort(runs, {}, &DatedRun::finished_at);
  std::vector<Group> groups;
  // What has a time first: what has none joins the problem and device of one that has.
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
    boards.push_back(board_of(group, spec_of, most));
  }
  return boards;
}

}  // namespace attnscope::charts
