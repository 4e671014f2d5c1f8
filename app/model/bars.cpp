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

static_assert(static_cast<size_t>(TermKind::other) + 1 == Words<TermKind>::table.size());

// How unlike two times are: the share of the one that the other's terms do not have, from 0 to 1. 1 without terms.
double unlike(const ModelledTime& a, const ModelledTime& b) {
  if (!a.has_terms || !b.has_terms) return 1;
  double sum = 0;
  for (size_t kind = 0; kind < a.shares.size(); ++kind) sum += std::abs(a.shares[kind] - b.shares[kind]);
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

ModelledTime modelled_time(const Observation& observation) {
  const Timing& timing = *observation.timing;
  ModelledTime time{timing.p50,
                    observation.variant ? observation.variant->arch : 0,
                    observation.experiment.kernel,
                    timing.terms && !timing.terms->list.empty(),
                    {}};
  if (time.has_terms)
    for (const Term& term : timing.terms->list) time.shares[static_cast<size_t>(term.kind)] += term.us / timing.p50;
  return time;
}

Paired paired(const ModelledTime& a, const ModelledTime& b) {
  if (a.kernel != b.kernel) return paired(a.us, b.us, a.arch);
  const double distance = unlike(a, b);
  const auto found = std::ranges::find_if(bars().one_kernel, [&](const auto& one) { return distance <= one.unlike; });
  return pair_of(a.us, b.us, found->factor, a.arch);
}

Paired paired(const Observation& a, const Observation& b) { return paired(modelled_time(a), modelled_time(b)); }

ApartFrom apart_from() {
  ApartFrom from{bars().other_kernels, bars().other_kernels};
  for (const Bars::Pair& one : bars().one_kernel) {
    from.never = std::min(from.never, one.factor);
    from.always = std::max(from.always, one.factor);
  }
  from.always = std::pow(from.always, std::max(1.0, bars().other_architecture_pairs));
  return from;
}

Paired paired(double a_us, double b_us, int arch) { return pair_of(a_us, b_us, bars().other_kernels, arch); }

}  // namespace attnscope::model
