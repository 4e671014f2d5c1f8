#include "model/bars.h"

#include <cmath>

#include "model/bars_data.h"
#include "model/bars_table.h"

namespace attnscope::model {
namespace {

const BarsTable& bars() {
  static const BarsTable read(kBarsData);
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

Paired pair_of(double a_us, double b_us, double factor) {
  if (a_us <= 0 || b_us <= 0) return {};
  const double ratio = b_us / a_us;
  return {ratio, ratio / factor, ratio * factor};
}

}  // namespace

Bar bar_of(Bound bound, bool traced, int arch) { return bars().bar_of(bound, traced, arch); }

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
  return pair_of(a.us, b.us, bars().of_one_kernel(unlike(a, b), a.arch));
}

Paired paired(const Observation& a, const Observation& b) { return paired(modelled_time(a), modelled_time(b)); }

ApartFrom apart_from() { return bars().apart_from(); }

Paired paired(double a_us, double b_us, int arch) { return pair_of(a_us, b_us, bars().of_two_kernels(arch)); }

}  // namespace attnscope::model
