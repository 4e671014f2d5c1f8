#include <fmt/format.h>

#include <algorithm>

#include "explain/rules.h"

namespace attnscope::explain {

namespace {

std::optional<Finding> idle_threads(const Facts& facts) {
  struct Phase {
    double issued = 0, lanes = 0;
  };
  std::map<std::string, Phase> phases;
  for (const Instruction& one : facts.code) {
    phases[one.phase].issued += one.issued;
    phases[one.phase].lanes += one.lanes;
  }
  double most = 0, lanes = 32;
  std::string name;
  for (const auto& [phase, us] : us_by_phase(facts)) {
    const Phase& work = phases[phase];
    if (work.issued <= 0) continue;
    const double active = work.lanes / work.issued;
    const double saved = us * stretch(facts, phase) * (1 - active / 32);
    if (saved <= most) continue;
    most = saved, lanes = active, name = phase;
  }
  const Instruction* at = carrier(facts, [&](const model::Stall& s) { return facts.code[s.producer].phase == name; });
  return costs(facts, RuleId::idle_threads, most,
               fmt::format("In {}, {:.3g} of a warp's 32 lanes work: the others take the same time and do nothing.",
                           name, lanes),
               {counted("active lanes", lanes, "of 32")}, at);
}

std::string wait_text(const LonePhase& of) {
  const char* them = of.busy == 1 ? "it" : "them";
  if (of.times == 0)
    return fmt::format("{} of a CTA's {} warps {} all of {}; the others wait for {} at the barrier.", of.busy, of.warps,
                       of.busy == 1 ? "does" : "do", of.phase, them);
  const std::string who = of.busy == 1 ? fmt::format("Warp {} of a CTA's {} warps does", of.busiest, of.warps)
                                       : fmt::format("{} of a CTA's {} warps do", of.busy, of.warps);
  return fmt::format("{} {:.3g} times as much of {} as each of the others, which wait for {} at the barrier.", who,
                     of.times, of.phase, them);
}

std::optional<Finding> lone_warps(const Facts& facts) {
  double most = 0;
  LonePhase worst;
  for (const LonePhase& one : lone_phases(facts)) {
    const double now = one.us + one.waited;
    const double spread = std::max(now * one.working / double(one.warps), highest_roof(facts, one.phase).second);
    const double saved = std::min(now - spread, one.waited);
    if (saved <= most) continue;
    most = saved;
    worst = one;
  }
  if (most <= 0) return std::nullopt;
  const Instruction* at =
      carrier(facts, [&](const model::Stall& s) { return facts.code[s.producer].phase == worst.phase; });
  std::vector<Evidence> evidence{counted(worst.times == 0 ? "warps that work" : "warps that do more",
                                         double(worst.busy), fmt::format("of {}", worst.warps)),
                                 modelled("time of the phase", worst.us),
                                 modelled("time that others wait for it", worst.waited)};
  if (worst.times > 0) evidence.push_back(counted("work of such a warp", worst.times, "times another's"));
  return costs(facts, RuleId::lone_warps, most, wait_text(worst), std::move(evidence), at);
}

// A wait that few warps cause belongs to lone_warps().
std::optional<Finding> barrier_wait(const Facts& facts) {
  const double all = term_us(facts, TermKind::barriers);
  double of_few = 0;
  for (const LonePhase& one : lone_phases(facts)) of_few += one.waited;
  const Instruction* at = carrier(facts, [](const model::Stall& s) { return s.term == TermKind::barriers; });
  if (at == nullptr) return std::nullopt;
  const double arrivals = facts.seen.counters ? double(facts.seen.counters->barriers) : 0;
  return costs(
      facts, RuleId::barrier_wait, all - of_few,
      fmt::format("Warps wait {} of the time at barriers{}, most of it at {}.", percent(all / time_us(facts)),
                  of_few > 0 ? fmt::format(", {} of it for few warps", percent(of_few / all)) : "", place(*at)),
      {modelled("time at barriers", all), counted("warp arrivals at barriers", arrivals)}, at);
}

constexpr RuleOf kWarpRules[] = {
    {RuleId::lone_warps, lone_warps, "What helps: give every warp a share of that work, or start fewer warps."},
    {RuleId::idle_threads, idle_threads, "What helps: give each lane an element, or fold two rows into one warp."},
    {RuleId::barrier_wait, barrier_wait,
     "What helps: fewer barriers, a warp's own barrier where only its lanes share data, or work that is evenly "
     "spread."}};

}  // namespace

std::span<const RuleOf> warp_rules() { return kWarpRules; }

}  // namespace attnscope::explain
