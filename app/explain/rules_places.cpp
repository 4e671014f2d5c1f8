#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalog/choices.h"
#include "core/number_text.h"
#include "core/with_commas.h"
#include "explain/rules.h"
#include "model/limits.h"

namespace attnscope::explain {
namespace {

constexpr double kMostlyLaunch = 0.3, kHalfFull = 0.5;

bool is_latency(TermKind term) { return term >= TermKind::instruction_latency && term <= TermKind::local_latency; }

}  // namespace

std::string limit_text(const Facts& facts) {
  const VariantInfo& variant = *facts.seen.variant;
  const auto allotted = model::cta_allotment(facts.spec, variant, facts.shape);
  switch (facts.seen.occupancy->limiter) {
    case Limiter::shared_memory:
      return fmt::format("a CTA takes {} B of an SM's {} B of shared memory, {} B of them the system's",
                         with_commas(allotted.shared_bytes), with_commas(facts.spec.shared_sm),
                         with_commas(facts.spec.shared_reserved_block));
    case Limiter::registers:
      return fmt::format("a CTA takes {} of an SM's {} registers, {} a thread", with_commas(allotted.registers),
                         with_commas(facts.spec.registers_sm), variant.registers);
    default:
      return fmt::format("{} limit it", to_string(facts.seen.occupancy->limiter));
  }
}

bool one_more_cta_holds_the_grid(const Facts& facts) {
  const Occupancy& occupancy = *facts.seen.occupancy;
  return occupancy.total_ctas > occupancy.resident_ctas &&
         occupancy.total_ctas <= facts.spec.sms * (occupancy.ctas_per_sm + 1);
}

namespace {

std::optional<Finding> occupancy_low(const Facts& facts) {
  const auto& occupancy = facts.seen.occupancy;
  if (!occupancy || !facts.seen.variant || occupancy->ctas_per_sm <= 0) return std::nullopt;
  if (occupancy->limiter != Limiter::shared_memory && occupancy->limiter != Limiter::registers) return std::nullopt;
  // A grid that does not fill the places would not use another one.
  if (occupancy->total_ctas < occupancy->resident_ctas) return std::nullopt;
  const double waits = stalled_us(facts, [](const model::Stall& s) { return is_latency(s.term); });
  const double ctas = double(occupancy->ctas_per_sm), tail = term_us(facts, TermKind::tail);
  // Without a last wave its CTAs run beside others, which hide their latencies.
  const double of_tail = one_more_cta_holds_the_grid(facts) ? tail * waits / std::max(time_us(facts) - tail, 1e-9) : 0;
  return costs(
      facts, RuleId::occupancy_low, waits / (ctas + 1) + of_tail,
      fmt::format("{} of {} warps are resident on an SM, and {} of the time is latency that more of them would "
                  "hide. {} CTA{} at a time, since {}.",
                  occupancy->warps_per_sm, facts.spec.warps_sm, percent(waits / time_us(facts)), occupancy->ctas_per_sm,
                  occupancy->ctas_per_sm == 1 ? " runs" : "s run", limit_text(facts)),
      {counted("CTAs on an SM", ctas), counted("warps on an SM", double(occupancy->warps_per_sm)),
       counted("CTAs at once", double(occupancy->resident_ctas)), modelled("time of latency", waits)});
}

std::string waits_for_few(const LonePhase& of) {
  return fmt::format("warps wait while {} of a CTA's {} {}{} in {}", of.busy, of.warps, of.busy == 1 ? "works" : "work",
                     of.times > 0 ? " longer" : "", of.phase);
}

std::optional<Finding> occupancy_misleading(const Facts& facts) {
  const auto& occupancy = facts.seen.occupancy;
  // The launch's time says nothing about warps, and neither does a grid that leaves SMs empty.
  const double time = time_us(facts) - term_us(facts, TermKind::launch);
  if (!occupancy || occupancy->fraction < kHalfFull || time <= 0 || occupancy->total_ctas < facts.spec.sms)
    return std::nullopt;
  const double waits = stalled_us(facts, [](const model::Stall& s) { return is_latency(s.term); });
  const std::vector<LonePhase> lone = lone_phases(facts);
  const double issue = term_us(facts, TermKind::issue) / time;
  double lone_share = 0;
  for (const LonePhase& one : lone) lone_share += one.waited / time;
  // Skipped if few warps work, or if the time goes to a queue, which more warps only lengthen.
  if (lone_share < kWarning && (waits > kWarning * time || issue > kHalfFull)) return std::nullopt;
  return note(
      RuleId::occupancy_misleading, Severity::info,
      fmt::format("An SM has {} of {} warps, but its schedulers issue in only {} of the time: {}.",
                  occupancy->warps_per_sm, facts.spec.warps_sm, percent(issue),
                  lone_share >= kWarning ? waits_for_few(*std::ranges::max_element(lone, {}, &LonePhase::waited))
                                         : "they queue for a unit that is already full"),
      {counted("occupancy", 100 * occupancy->fraction, "%"), modelled("time of issue", 100 * issue, "%")});
}

std::optional<Finding> grid_tail(const Facts& facts) {
  const auto& occupancy = facts.seen.occupancy;
  if (!occupancy || occupancy->total_ctas <= facts.spec.sms) return std::nullopt;
  const double lost = 1 - evenness(facts.spec, *occupancy);
  const double most = std::ceil(double(occupancy->total_ctas) / double(facts.spec.sms));
  // The model gives the cost of the last CTAs; a tail that other CTAs fill costs nothing.
  const double saved = std::min(term_us(facts, TermKind::tail), lost * time_us(facts));
  std::string sentence = fmt::format(
      "{} CTAs do not share out evenly: an SM of {} runs up to {:.0f}, on average {:.3g}.",
      with_commas(occupancy->total_ctas), facts.spec.sms, most, double(occupancy->total_ctas) / double(facts.spec.sms));
  std::vector<Evidence> evidence{counted("CTAs", double(occupancy->total_ctas)),
                                 counted("places", double(occupancy->resident_ctas))};
  if (occupancy->total_ctas <= occupancy->resident_ctas) {
    sentence += " All of them run at once, and an SM with fewer is done earlier.";
  } else {
    sentence += fmt::format(" {} places are there at once, so the last {} CTA{} in a wave of {} own.",
                            with_commas(occupancy->resident_ctas), with_commas(occupancy->tail_ctas),
                            occupancy->tail_ctas == 1 ? " runs" : "s run", occupancy->tail_ctas == 1 ? "its" : "their");
    evidence.push_back(counted("CTAs of the last wave", double(occupancy->tail_ctas)));
  }
  evidence.push_back(modelled("time of the tail", term_us(facts, TermKind::tail)));
  return costs(facts, RuleId::grid_tail, saved, std::move(sentence), std::move(evidence));
}

std::optional<Finding> grid_small(const Facts& facts) {
  const auto& occupancy = facts.seen.occupancy;
  if (!occupancy) return std::nullopt;
  if (occupancy->total_ctas >= facts.spec.sms) return std::nullopt;
  const double lost = 1 - evenness(facts.spec, *occupancy);
  const double work = time_us(facts) - term_us(facts, TermKind::launch);
  return costs(facts, RuleId::grid_small, lost * work,
               fmt::format("The grid has {} CTA{} and the device {} SMs: {} of it is idle.", occupancy->total_ctas,
                           occupancy->total_ctas == 1 ? "" : "s", facts.spec.sms, percent(lost)),
               {counted("CTAs", double(occupancy->total_ctas)), counted("SMs", double(facts.spec.sms))});
}

std::optional<Finding> launch_most(const Facts& facts) {
  const double launch = term_us(facts, TermKind::launch);
  if (time_us(facts) <= 0 || launch < kMostlyLaunch * time_us(facts)) return std::nullopt;
  return note(RuleId::launch_most, Severity::info,
              fmt::format("{} of the {} us is the launch, which a kernel that does nothing takes too.",
                          percent(launch / time_us(facts)), number_text(time_us(facts), 3)),
              {modelled("time of the launch", launch)});
}

std::optional<Finding> limits_exceeded(const Facts& facts) {
  const auto& failure = facts.seen.failure;
  if (!failure || failure->stage != Stage::limits) return std::nullopt;
  // A machine that lacks memory refuses in this stage too, but no config helps then.
  if (facts.seen.variant && model::check_limits(facts.spec, *facts.seen.variant, facts.shape, "")) return std::nullopt;
  const Experiment& experiment = facts.seen.experiment;
  Finding finding = note(RuleId::limits_exceeded, Severity::error,
                         failure->message + (failure->message.ends_with('.') ? "" : "."), {});
  if (facts.seen.variant && facts.seen.variant->registers > 0)
    finding.evidence.push_back(counted("registers", double(facts.seen.variant->registers), "per thread"));
  finding.evidence.push_back(
      counted("static shared memory that a kernel may declare", double(facts.spec.shared_static_block), "B"));
  finding.evidence.push_back(counted("shared memory that a CTA may have", double(facts.spec.shared_optin_block), "B"));
  if (const auto way = catalog::way_out(facts.kernel, experiment.problem, experiment.config, facts.spec)) {
    finding.next = Next{{{way->knob, way->value}}};
    finding.sentence += fmt::format(" The nearest config that fits has {}={}.", way->knob, way->text);
  }
  return finding;
}

constexpr RuleOf kPlaceRules[] = {
    {RuleId::limits_exceeded, limits_exceeded, ""},
    {RuleId::occupancy_low, occupancy_low, "What helps: less of what limits it, so that one more CTA fits.",
     Wants::warps},
    {RuleId::occupancy_misleading, occupancy_misleading, "More warps do not help here."},
    {RuleId::grid_tail, grid_tail, "What helps: smaller CTAs, or as many as fill the SMs evenly.", Wants::even_sms},
    {RuleId::grid_small, grid_small, "What helps: smaller tiles, or splitting the inner loop over several CTAs.",
     Wants::even_sms},
    {RuleId::launch_most, launch_most,
     "Such a time says nothing about the kernel's loop: measure a larger problem before it is extrapolated."}};

}  // namespace

std::span<const RuleOf> place_rules() { return kPlaceRules; }

}  // namespace attnscope::explain
