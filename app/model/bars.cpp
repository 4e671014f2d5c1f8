#include "model/bars.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/json.h"
#include "model/bars_data.h"

namespace attnscope::model {
namespace {

struct Bars {
  std::map<std::string, Bar> of_bound;
  Bar other, counters;  // other: bounds with few measured times; counters: without a path
  struct Pair {
    double unlike, factor;  // for terms that differ by at most this; the factor in either direction
  };
  std::vector<Pair> one_kernel;  // ascending
  double other_kernels = 1;
  double other_architecture = 1, other_architecture_pairs = 1;  // in either direction; a factor on the logarithm
  int arch = 0;                                                 // the measured one

  Bars() {
    const Json json = Json::parse(kBarsData);
    const auto bar = [](const Json& of) { return Bar{of.at(0), of.at(1)}; };
    for (const auto& [bound, of] : json.at("bounds").items()) of_bound[bound] = bar(of);
    other = bar(json.at("other_bounds"));
    counters = bar(json.at("counters"));
    for (const Json& of : json.at("one_kernel")) one_kernel.push_back({of.at(0), of.at(1)});
    other_kernels = json.at("other_kernels");
    other_architecture = json.at("other_architecture");
    other_architecture_pairs = json.at("other_architecture_pairs");
    arch = json.at("arch");
  }
};

const Bars& bars() {
  static const Bars read;
  return read;
}

// How unlike two times are: the share of the one that the other's terms do not have, from 0 to 1. 1 without terms.
double unlike(const Timing& a, const Timing& b) {
  if (!a.terms || !b.terms || a.terms->list.empty() || b.terms->list.empty()) return 1;
  std::map<TermKind, double> shares;
  for (const Term& term : a.terms->list) shares[term.kind] += term.us / a.p50;
  for (const Term& term : b.terms->list) shares[term.kind] -= term.us / b.p50;
  double sum = 0;
  for (const auto& [kind, share] : shares) sum += std::abs(share);
  return sum / 2;
}

Paired pair_of(double a_us, double b_us, double factor, int arch) {
  Paired made;
  if (a_us <= 0 || b_us <= 0) return made;
  if (arch != bars().arch) factor = std::pow(factor, bars().other_architecture_pairs);
  made.ratio = b_us / a_us;
  made.low = made.ratio / factor;
  made.high = made.ratio * factor;
  return made;
}

}  // namespace

Bar bar_of(Bound bound, bool traced, int arch) {
  if (!traced) return bars().counters;
  const auto found = bars().of_bound.find(std::string(word_of(bound)));
  Bar bar = found == bars().of_bound.end() ? bars().other : found->second;
  if (arch != bars().arch) bar = {bar.low / bars().other_architecture, bar.high * bars().other_architecture};
  return bar;
}

Paired paired(const Observation& a, const Observation& b) {
  const int arch = a.variant ? a.variant->arch : 0;
  if (a.experiment.kernel != b.experiment.kernel) return paired(a.timing->p50, b.timing->p50, arch);
  const double distance = unlike(*a.timing, *b.timing);
  const auto found = std::ranges::find_if(bars().one_kernel, [&](const auto& one) { return distance <= one.unlike; });
  return pair_of(a.timing->p50, b.timing->p50, found->factor, arch);
}

Paired paired(double a_us, double b_us, int arch) { return pair_of(a_us, b_us, bars().other_kernels, arch); }

}  // namespace attnscope::model
