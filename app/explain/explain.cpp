#include "explain/explain.h"

#include <algorithm>
#include <tuple>

#include "catalog/choices.h"
#include "explain/causes.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

constexpr RuleOf kAll[] = {
    {RuleId::limits_exceeded, limits_exceeded, ""},
    {RuleId::lone_warps, lone_warps, "What helps: give every warp a share of that work, or start fewer warps."},
    {RuleId::idle_threads, idle_threads, "What helps: give each lane an element, or fold two rows into one warp."},
    {RuleId::barrier_wait, barrier_wait,
     "What helps: fewer barriers, a warp's own barrier where only its lanes share data, or work that is evenly "
     "spread."},
    {RuleId::bank_conflicts, bank_conflicts,
     "What helps: pad each row, or permute its 16-byte chunks by the row's number (a swizzle).", Wants::layout},
    {RuleId::shared_queue, shared_queue,
     "What helps: compute several outputs a thread, so that a value that is read stays in a register for all of them."},
    {RuleId::global_scattered, global_scattered, "What helps: let neighbouring lanes read neighbouring bytes."},
    {RuleId::global_repeated, global_repeated,
     "What helps: keep a tile in shared memory or registers and use it for more rows."},
    {RuleId::global_narrow, global_narrow, "What helps: vector types such as float4 for neighbouring values.",
     Wants::wide},
    {RuleId::local_spill, local_spill,
     "What helps: smaller tiles in registers, a lower unroll, or a higher register limit."},
    {RuleId::local_stack, local_stack,
     "What helps: unroll the loops over the array, so that its indices are constants and it stays in registers."},
    {RuleId::local_recursion, local_recursion, "What helps: a loop, with an array for what the calls keep."},
    {RuleId::latency_exposed, latency_exposed,
     "What helps: load earlier (double buffering), independent work in between, or more warps.", Wants::warps},
    {RuleId::occupancy_low, occupancy_low, "What helps: less of what limits it, so that one more CTA fits.",
     Wants::warps},
    {RuleId::occupancy_misleading, occupancy_misleading, "More warps do not help here."},
    {RuleId::grid_tail, grid_tail, "What helps: smaller CTAs, or as many as fill the SMs evenly.", Wants::even_sms},
    {RuleId::grid_small, grid_small, "What helps: smaller tiles, or splitting the inner loop over several CTAs.",
     Wants::even_sms},
    {RuleId::launch_most, launch_most,
     "Such a time says nothing about the kernel's loop: measure a larger problem before it is extrapolated."},
    {RuleId::mufu_bound, mufu_bound,
     "What helps: fewer exponentials, or a polynomial on the FP32 pipe for some of them."},
    {RuleId::tensor_unused, tensor_unused, "What helps: products by mma instructions.", Wants::tensor},
    {RuleId::double_used, double_used,
     "What helps: constants with the suffix f (0.5f for 0.5) and functions of floats (sqrtf for sqrt)."},
    {RuleId::integer_division, integer_division,
     "What helps: a divisor that is known when the kernel is compiled, a power of two by shift and mask, or counting "
     "along instead of dividing."},
    {RuleId::error_half, error_half, "What helps: accumulate in fp32."},
    {RuleId::knob_unused, knob_unused, ""},
    {RuleId::helper_unused, helper_unused, "Either it is left over, or a call is missing."},
    {RuleId::bound_roof, bound_roof, ""},
    {RuleId::phase_most, phase_most, ""}};

// Adds to the finding what helps, and the knob that does it.
void advise(const Facts& facts, const RuleOf& rule, Finding& finding) {
  if (rule.helps.empty()) return;
  finding.sentence += " " + std::string(rule.helps);
  if (finding.next) return;
  const auto found = proposal(facts, rule.wants);
  if (!found) return;
  finding.next = found->next;
  if (finding.gain && finding.gain->estimated)
    *finding.gain->estimated = std::max(*finding.gain->estimated * found->share, found->saved);
}

}  // namespace

std::span<const RuleOf> all_rules() { return kAll; }

std::vector<Config> neighbours(const Kernel& kernel, const Problem& problem, const Config& config,
                               const DeviceSpec& spec) {
  std::vector<Config> configs;
  for (const catalog::KnobChoice& choice : catalog::choices(kernel, problem, config, spec)) {
    if (choice.chosen || !choice.legal || !choice.warnings.empty()) continue;
    configs.push_back(config);
    configs.back().knobs[choice.knob] = choice.value;
  }
  return configs;
}

Next difference(const Config& from, const Config& to) {
  Next next;
  for (const auto& [knob, value] : to.knobs) {
    const auto held = from.knobs.find(knob);
    if (held == from.knobs.end() || held->second != value) next.set[knob] = value;
  }
  return next;
}

std::vector<Finding> findings_of(const Facts& facts) {
  std::vector<Finding> findings;
  for (const RuleOf& rule : kAll) {
    auto finding = rule.look(facts);
    if (!finding) continue;
    advise(facts, rule, *finding);
    findings.push_back(std::move(*finding));
  }
  link_causes(facts, findings);
  rank(findings);
  return findings;
}

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& one) {
    const double gain = one.gain ? one.gain->tried.value_or(one.gain->estimated.value_or(0)) : 0;
    return std::tuple(one.severity != Severity::error, -gain, one.severity != Severity::warning);
  };
  std::ranges::stable_sort(findings, {}, key);
}

}  // namespace attnscope::explain
