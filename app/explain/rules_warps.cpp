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

std::optional<Finding> lone_warps(const Facts& facts) {
  double most = 0;
  LonePhase worst;
  for (const LonePhase& one : lone_phases(facts)) {
    const double now = one.us + one.waited, warps = double(facts.warps.at(one.phase).size());
    const double spread = std::max(now * one.working / warps, highest_roof(facts, one.phase).second);
    if (now - spread <= most) continue;
    most = now - spread;
    worst = one;
  }
  if (most <= 0) return std::nullopt;
  const auto warps = facts.warps.at(worst.phase).size();
  const Instruction* at =
      carrier(facts, [&](const model::Stall& s) { return facts.code[s.producer].phase == worst.phase; });
  return costs(facts, RuleId::lone_warps, most,
               fmt::format("{:.3g} of a CTA's {} warps do all of {}; the others wait for {} at the barrier.",
                           worst.working, warps, worst.phase, worst.working < 1.5 ? "it" : "them"),
               {counted("warps that work", worst.working, fmt::format("of {}", warps)),
                modelled("time of the phase", worst.us), modelled("time that others wait for it", worst.waited)},
               at);
}

// A wait that few warps cause belongs to lone_warps().
std::optional<Finding> barrier_wait(const Facts& facts) {
  if (!lone_phases(facts).empty()) return std::nullopt;
  const double waited = term_us(facts, TermKind::barriers);
  const Instruction* at = carrier(facts, [](const model::Stall& s) { return s.term == TermKind::barriers; });
  if (at == nullptr) return std::nullopt;
  const double arrivals = facts.seen.counters ? double(facts.seen.counters->barriers) : 0;
  return costs(facts, RuleId::barrier_wait, waited,
               fmt::format("Warps wait {} of the time at barriers, most of it at {}.", percent(waited / time_us(facts)),
                           place(*at)),
               {modelled("time at barriers", waited), counted("warp arrivals at barriers", arrivals)}, at);
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
