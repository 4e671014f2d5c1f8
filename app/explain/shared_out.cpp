#include "explain/shared_out.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "explain/rules.h"
#include "model/rates.h"

namespace attnscope::explain {
namespace {

using model::Stall;

// True for latencies, during which other warps' work proceeds.
bool is_latency(TermKind term) {
  switch (term) {
    case TermKind::instruction_latency:
    case TermKind::tensor_latency:
    case TermKind::mufu_latency:
    case TermKind::shuffle_latency:
    case TermKind::constant_latency:
    case TermKind::shared_latency:
    case TermKind::global_latency:
    case TermKind::local_latency:
    case TermKind::barriers:
      return true;
    default:
      return false;
  }
}

// The time of the phases that load what other CTAs load too, and of all waits for such loads.
double repeated_us(const Facts& facts) {
  if (!loads_repeat(facts)) return 0;
  std::set<std::string> loading;
  for (const Instruction& one : facts.code)
    if (loads_global(one) && one.issued > 0) loading.insert(one.phase);
  return stalled_us(facts, [&](const Stall& stall) {
    if (stall.producer == Stall::kNone) return false;
    const Instruction& one = facts.code[stall.producer];
    return loads_global(one) || loading.contains(one.phase);
  });
}

// Warps of the busiest scheduler on an SM with the most CTAs.
double warps_of_scheduler(const DeviceSpec& spec, const SharedOut& out) {
  const double ctas = std::ceil(out.ctas / double(std::max<int64_t>(1, spec.sms)));
  return std::ceil(ctas * out.warps / std::max(1.0, model::rates::rate(spec, model::rates::kIssue)));
}

}  // namespace

double us_if_shared_out(const Facts& facts, const SharedOut& then) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  const SharedOut now{double(occupancy.total_ctas),
                      double(occupancy.warps_per_sm) / double(std::max<int64_t>(1, occupancy.ctas_per_sm))};
  const double launch = term_us(facts, TermKind::launch);
  const double work = std::max(time_us(facts) - launch, 1e-9);
  const double stays = std::min(repeated_us(facts), work);
  const double latency = std::min(1.0, stalled_us(facts, [](const Stall& s) { return is_latency(s.term); }) / work);
  const double of_warp = now.ctas * now.warps / (then.ctas * then.warps);
  const double beside = warps_of_scheduler(facts.spec, then) / warps_of_scheduler(facts.spec, now);
  return launch + ((work - stays) * of_warp + stays) * ((1 - latency) * beside + latency);
}

}  // namespace attnscope::explain
