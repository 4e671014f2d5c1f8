// Figures of a program, computed from its launches.
#include <algorithm>
#include <map>
#include <type_traits>

#include "core/observation.h"
#include "core/observation_fields.h"

namespace attnscope {
namespace {

bool has_code(const LaunchFigures& one) { return one.variant || one.counters; }

double us_of(const LaunchFigures& one) { return one.timing ? one.timing->p50 : 0; }

// Adds up the times of equal keys; longest first.
template <class T, class Key>
void merge(std::vector<T>& all, const std::vector<T>& more, Key key) {
  for (const T& one : more) {
    const auto same = std::ranges::find(all, one.*key, key);
    if (same == all.end()) {
      all.push_back(one);
      continue;
    }
    same->us += one.us;
    if constexpr (requires { same->lines; }) same->lines.insert(same->lines.end(), one.lines.begin(), one.lines.end());
    if constexpr (requires { same->terms; }) merge(same->terms, one.terms, &PhaseTerm::kind);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &T::us);
}

Terms sum_of(const std::vector<LaunchFigures>& launches) {
  Terms sum;
  for (size_t i = 0; i < launches.size(); ++i) {
    Terms terms = launches[i].timing->terms.value_or(Terms{});
    if (!terms.missing.empty()) return Terms{{}, {}, terms.missing};
    for (Term& term : terms.list)
      for (TermLine& line : term.lines) line.launch = static_cast<int64_t>(i);
    merge(sum.list, terms.list, &Term::kind);
    merge(sum.phases, terms.phases, &Phase::name);
  }
  for (Term& term : sum.list) {
    std::ranges::stable_sort(term.lines, std::ranges::greater{}, &TermLine::us);
    if (term.lines.size() > Term::kMostLines) term.lines.resize(Term::kMostLines);
  }
  return sum;
}

}  // namespace

std::optional<size_t> longest_launch(const std::vector<LaunchFigures>& launches) {
  std::optional<size_t> longest;
  for (size_t i = 0; i < launches.size(); ++i)
    if (has_code(launches[i]) && (!longest || us_of(launches[i]) > us_of(launches[*longest]))) longest = i;
  return longest;
}

std::optional<Counters> sum_of_counters(const std::vector<LaunchFigures>& launches) {
  std::optional<Counters> sum;
  for (const LaunchFigures& launch : launches) {
    if (!has_code(launch)) continue;
    if (!launch.counters) return std::nullopt;
    if (!sum) sum.emplace();
    const Counters& one = *launch.counters;
    for (const auto& [kind, count] : one.instructions) sum->instructions[kind] += count;
    for_each_counter([&](const CounterRow&, auto member) {
      if constexpr (std::is_same_v<decltype(member), int64_t Counters::*>) (*sum).*member += one.*member;
    });
    sum->emulated_ctas += one.emulated_ctas;
    sum->total_ctas += one.total_ctas;
  }
  if (!sum) return sum;
  if (const int64_t warps = sum->instructions[kAllInstructions]; warps > 0)
    sum->active_lanes_mean = double(sum->threads) / double(warps);
  if (sum->total_ctas > 0) sum->sampled_fraction = double(sum->emulated_ctas) / double(sum->total_ctas);
  return sum;
}

std::optional<Timing> sum_of_timings(const std::vector<LaunchFigures>& launches) {
  if (launches.empty()) return std::nullopt;
  Timing sum;
  std::map<Bound, double> bounds;
  for (const LaunchFigures& launch : launches) {
    if (!launch.timing) return std::nullopt;
    const Timing& one = *launch.timing;
    for (const auto member : {&Timing::p10, &Timing::p50, &Timing::p90, &Timing::interval_low, &Timing::interval_high})
      sum.*member += one.*member;
    bounds[one.bound] += one.p50;
    if (sum.clock_mhz == 0) sum.clock_mhz = one.clock_mhz;
  }
  bounds.erase(Bound::unknown);
  const auto longest = std::ranges::max_element(bounds, {}, &std::pair<const Bound, double>::second);
  if (longest != bounds.end()) sum.bound = longest->first;
  sum.terms = sum_of(launches);
  return sum;
}

}  // namespace attnscope
