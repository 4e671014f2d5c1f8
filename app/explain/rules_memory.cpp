#include <fmt/format.h>

#include <algorithm>

#include "core/with_commas.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

using model::Stall;
using model::Unit;

bool loads_global(const Instruction& one) { return one.unit == Unit::global_load || one.unit == Unit::async_copy; }
bool is_global(const Instruction& one) { return loads_global(one) || one.unit == Unit::global_store; }
bool is_local(const Instruction& one) { return one.unit == Unit::local_load || one.unit == Unit::local_store; }

double least_sectors(const Instruction& one) { return std::max(one.requests, one.bytes / 32); }
double least_lines(const Instruction& one) { return std::max(one.requests, one.bytes / 128); }

// The share of a stall that would go if the access touched no more than its bytes.
double scattered_share(const Facts& facts, const Stall& stall) {
  if (stall.producer == Stall::kNone) return 0;
  const Instruction& one = facts.code[stall.producer];
  if (!is_global(one) || one.sectors <= 0) return 0;
  const double lines = one.lines > 0 ? 1 - std::min(1.0, least_lines(one) / one.lines) : 0;
  const double sectors = 1 - std::min(1.0, least_sectors(one) / one.sectors);
  if (stall.term == TermKind::l1_lines) return lines;
  return stall.term == TermKind::l2_bandwidth || stall.term == TermKind::dram_bandwidth ? sectors : 0;
}

double local_us(const Facts& facts) {
  return stalled_us(facts,
                    [&](const Stall& s) { return s.producer != Stall::kNone && is_local(facts.code[s.producer]); });
}

const Instruction* local_access(const Facts& facts) {
  return carrier(facts, [&](const Stall& s) { return is_local(facts.code[s.producer]); });
}

}  // namespace

std::optional<Finding> bank_conflicts(const Facts& facts) {
  double saved = 0, wavefronts = 0, ideal = 0;
  for (const Stall& stall : facts.stalls)
    if (stall.term == TermKind::bank_conflicts && stall.producer != Stall::kNone)
      saved += stall.time * stretch(facts, facts.code[stall.producer].phase);
  for (const Instruction& one : facts.code) wavefronts += one.wavefronts, ideal += one.ideal;
  const Instruction* at = carrier(facts, [](const Stall& s) { return s.term == TermKind::bank_conflicts; });
  // The access is one whose lanes conflict; the queue's time may be carried by another that waits behind it.
  for (const Instruction& one : facts.code)
    if (one.wavefronts - one.ideal > (at == nullptr ? 0 : at->wavefronts - at->ideal)) at = &one;
  if (at == nullptr || wavefronts <= ideal) return std::nullopt;
  const double degree = at->wavefronts / std::max(1.0, at->ideal);
  return costs(facts, RuleId::bank_conflicts, saved,
               fmt::format("Lanes of a warp use the same banks of shared memory: {} of all wavefronts are conflicts. "
                           "The access at {} takes {:.3g} wavefronts where 1 is enough.",
                           percent(1 - ideal / wavefronts), place(*at), degree),
               {counted("wavefronts", wavefronts), counted("wavefronts without conflicts", ideal),
                counted("wavefronts of the worst access", degree, "per wavefront needed"),
                modelled("time of conflicts", term_us(facts, TermKind::bank_conflicts))},
               at);
}

std::optional<Finding> global_scattered(const Facts& facts) {
  double saved = 0;
  for (const Stall& stall : facts.stalls) saved += stall.time * scattered_share(facts, stall);
  const Instruction* at = carrier(facts, [&](const Stall& s) { return scattered_share(facts, s) > 0; });
  if (at == nullptr) return std::nullopt;
  return costs(
      facts, RuleId::global_scattered, saved,
      fmt::format("The lanes of a warp read or write far apart: a request at {} touches {:.3g} lines of 128 "
                  "bytes where {:.3g} would hold its bytes.",
                  place(*at), at->lines / std::max(1.0, at->requests), least_lines(*at) / std::max(1.0, at->requests)),
      {counted("lines of a request", at->lines / std::max(1.0, at->requests)),
       counted("sectors of a request", at->sectors / std::max(1.0, at->requests)),
       counted("sectors that its bytes need", least_sectors(*at) / std::max(1.0, at->requests))},
      at);
}

std::optional<Finding> global_repeated(const Facts& facts) {
  double bytes = 0;
  for (const Instruction& one : facts.code)
    if (loads_global(one)) bytes += one.bytes * grid_scale(facts);
  if (facts.distinct_bytes <= 0 || bytes < 2 * facts.distinct_bytes) return std::nullopt;
  const auto waits = [&](const Stall& s) {
    return s.producer != Stall::kNone && loads_global(facts.code[s.producer]) &&
           (s.term == TermKind::l1_lines || s.term == TermKind::l2_bandwidth || s.term == TermKind::global_latency);
  };
  const Instruction* at = carrier(facts, waits);
  return costs(facts, RuleId::global_repeated, stalled_us(facts, waits) * (1 - facts.distinct_bytes / bytes),
               fmt::format("The kernel asks global memory for {} bytes; the problem has {}: each byte is loaded {:.3g} "
                           "times.",
                           with_commas(int64_t(bytes)), with_commas(int64_t(facts.distinct_bytes)),
                           bytes / facts.distinct_bytes),
               {counted("bytes loaded", bytes, "B"), counted("bytes of the inputs", facts.distinct_bytes, "B")}, at);
}

std::optional<Finding> local_spill(const Facts& facts) {
  const auto& variant = facts.seen.variant;
  if (!variant || variant->spill_bytes <= 0) return std::nullopt;
  const Instruction* at = local_access(facts);
  const std::string sentence = fmt::format(
      "The {} registers of a thread are not enough: {} bytes are spilled to local memory, which lies in the caches.",
      variant->registers, with_commas(variant->spill_bytes));
  const std::vector<Evidence> evidence{counted("spilled", double(variant->spill_bytes), "B"),
                                       counted("registers", double(variant->registers), "per thread"),
                                       modelled("time of local memory", local_us(facts))};
  if (auto costly = costs(facts, RuleId::local_spill, local_us(facts), sentence, evidence, at)) return costly;
  return note(RuleId::local_spill, Severity::info, sentence + " It costs little here.", evidence, at);
}

std::optional<Finding> local_stack(const Facts& facts) {
  const auto& variant = facts.seen.variant;
  const Instruction* at = local_access(facts);
  if (!variant || variant->stack_bytes <= 0 || variant->spill_bytes > 0 || at == nullptr) return std::nullopt;
  return costs(facts, RuleId::local_stack, local_us(facts),
               fmt::format("An array of a thread lies in local memory ({} bytes of stack), because its index is not "
                           "known when the kernel is compiled.",
                           with_commas(variant->stack_bytes)),
               {counted("stack", double(variant->stack_bytes), "B"), modelled("time of local memory", local_us(facts))},
               at);
}

}  // namespace attnscope::explain
