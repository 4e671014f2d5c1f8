#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/with_commas.h"
#include "explain/replayed.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

using model::Stall;
using model::Unit;

bool is_global(const Instruction& one) { return loads_global(one) || one.unit == Unit::global_store; }
bool is_local(const Instruction& one) { return one.unit == Unit::local_load || one.unit == Unit::local_store; }

double least_sectors(const Instruction& one) { return std::max(one.requests, one.bytes / 32); }
double least_lines(const Instruction& one) { return std::max(one.requests, one.bytes / 128); }

// What passes through a queue, and how much of it the bytes do not need.
struct Moved {
  double all = 0, excess = 0;
  double share() const { return all > 0 ? excess / all : 0; }
  void add(double moved, double least) {
    all += moved;
    excess += std::max(0.0, moved - least);
  }
};

// The global accesses of a phase. They share their queues, so an access queued behind another may carry its wait.
struct PhaseQueues {
  Moved passes, sectors;
};

std::map<std::string, PhaseQueues> queues_of(const Facts& facts) {
  std::map<std::string, PhaseQueues> queues;
  for (const Instruction& one : facts.code) {
    if (!is_global(one)) continue;
    PhaseQueues& of = queues[one.phase];
    of.sectors.add(one.sectors, least_sectors(one));
    if (one.passes > 0) of.passes.add(one.passes, least_lines(one));
  }
  return queues;
}

double excess(const Instruction& one, bool of_passes) {
  if (!is_global(one)) return 0;
  if (of_passes) return one.passes > 0 ? std::max(0.0, one.passes - least_lines(one)) : 0;
  return std::max(0.0, one.sectors - least_sectors(one));
}

// Instructions that serve the accesses of their line: addresses, loop counters and bounds.
bool is_overhead(Unit unit) {
  return unit == Unit::integer || unit == Unit::imad || unit == Unit::uniform || unit == Unit::control;
}

double local_us(const Facts& facts) {
  return stalled_us(facts,
                    [&](const Stall& s) { return s.producer != Stall::kNone && is_local(facts.code[s.producer]); });
}

const Instruction* local_access(const Facts& facts) {
  return carrier(facts, [&](const Stall& s) { return is_local(facts.code[s.producer]); });
}

// Whether a stall waits behind wavefronts that accesses to shared memory need. Accesses to global memory use the same
// path and are excluded.
auto waits_for_shared(const Facts& facts) {
  return [&facts](const Stall& s) {
    return s.term == TermKind::shared_wavefronts && s.producer != Stall::kNone && facts.code[s.producer].wavefronts > 0;
  };
}

constexpr double kDense = 0.9;  // of the bytes in the sectors that are touched

// ptxas also counts registers saved at calls as spills. It reports a stack size, which contains spills, unless a
// function calls itself.
bool saves_at_calls(const VariantInfo& variant) { return variant.spill_bytes > 0 && variant.stack_bytes == 0; }

}  // namespace

bool loads_global(const Instruction& one) { return one.unit == Unit::global_load || one.unit == Unit::async_copy; }

double loaded_bytes(const Facts& facts) {
  double bytes = 0;
  for (const Instruction& one : facts.code)
    if (loads_global(one)) bytes += one.bytes * grid_scale(facts);
  return bytes;
}

bool loads_repeat(const Facts& facts) {
  return facts.distinct_bytes > 0 && loaded_bytes(facts) > 2 * facts.distinct_bytes;
}

bool is_narrow(const Instruction& one) {
  return is_global(one) && one.width > 0 && one.width < kWidest && one.sectors > 0 &&
         one.bytes >= kDense * 32 * one.sectors && one.bytes <= 32 * one.sectors / kDense;
}

namespace {

std::optional<Finding> bank_conflicts(const Facts& facts) {
  double saved = 0, wavefronts = 0, ideal = 0;
  for (const Stall& stall : facts.stalls)
    if (stall.term == TermKind::bank_conflicts && stall.producer != Stall::kNone)
      saved += stall.time * stretch(facts, facts.code[stall.producer].phase);
  for (const Instruction& one : facts.code) wavefronts += one.wavefronts, ideal += one.ideal;
  const Instruction* at = carrier(facts, [](const Stall& s) { return s.term == TermKind::bank_conflicts; });
  // Names the access whose lanes conflict; the queue's time may be carried by another access behind it.
  for (const Instruction& one : facts.code)
    if (one.wavefronts - one.ideal > (at == nullptr ? 0 : at->wavefronts - at->ideal)) at = &one;
  if (at == nullptr || wavefronts <= ideal) return std::nullopt;
  // The wavefronts that are needed queue too. Without conflicts shared memory is busy for a smaller share of the time,
  // and this queue is shorter in proportion.
  const double conflicts = term_us(facts, TermKind::bank_conflicts), rest = time_us(facts) - conflicts;
  if (conflicts > 0 && rest > 0)
    saved += stalled_us(facts, waits_for_shared(facts)) * std::max(0.0, 1 - ideal / wavefronts * time_us(facts) / rest);
  const double degree = at->wavefronts / std::max(1.0, at->ideal);
  std::string sentence = fmt::format(
      "Lanes of a warp use the same banks of shared memory: {} of all wavefronts are conflicts. "
      "The access at {} takes {:.3g} wavefronts where 1 is enough.",
      percent(1 - ideal / wavefronts), place(*at), degree);
  std::vector<Evidence> evidence{counted("wavefronts", wavefronts), counted("wavefronts without conflicts", ideal),
                                 counted("wavefronts of the worst access", degree, "per wavefront needed"),
                                 modelled("time of conflicts", conflicts)};
  if (const auto other = replayed(facts)) {
    sentence += fmt::format(
        " Replayed with {} bytes behind each row, the recorded accesses keep {} of the conflicts; "
        "with each row's chunks permuted, {}.",
        other->padding, percent(other->padded), percent(other->swizzled));
    evidence.push_back(modelled("conflicts left by padding", 100 * other->padded, "%"));
    evidence.push_back(modelled("conflicts left by permuting", 100 * other->swizzled, "%"));
  }
  return costs(facts, RuleId::bank_conflicts, saved, std::move(sentence), std::move(evidence), at);
}

// Without conflicts: each access takes as many wavefronts as its bytes need.
std::optional<Finding> shared_queue(const Facts& facts) {
  const auto waits = waits_for_shared(facts);
  const Instruction* at = carrier(facts, waits);
  if (at == nullptr) return std::nullopt;
  double wavefronts = 0, arithmetic = 0;
  for (const Instruction& one : facts.code) {
    wavefronts += one.ideal;
    if (one.unit == Unit::fp32 || one.unit == Unit::fp16x2 || one.unit == Unit::tensor) arithmetic += one.issued;
  }
  const double us = stalled_us(facts, waits), each = arithmetic / std::max(1.0, wavefronts);
  return costs(facts, RuleId::shared_queue, us,
               fmt::format("Warps queue for shared memory {} of the time, most for {}: an access serves only {:.3g} "
                           "arithmetic instructions.",
                           percent(us / time_us(facts)), place(*at), each),
               {modelled("time of the queue", us), counted("wavefronts needed", wavefronts),
                counted("arithmetic instructions of a wavefront", each)},
               at);
}

std::optional<Finding> global_scattered(const Facts& facts) {
  auto queues = queues_of(facts);
  double of_passes = 0, of_sectors = 0;
  for (const Stall& stall : facts.stalls) {
    if (stall.producer == Stall::kNone) continue;
    const auto queue = queues.find(facts.code[stall.producer].phase);
    if (queue == queues.end()) continue;
    if (stall.term == TermKind::l1_lines) of_passes += stall.time * queue->second.passes.share();
    if (stall.term == TermKind::l2_bandwidth || stall.term == TermKind::dram_bandwidth)
      of_sectors += stall.time * queue->second.sectors.share();
  }
  const bool by_passes = of_passes >= of_sectors;
  const Instruction* at = carrier(facts, [&](const Stall& s) {
    return (s.term == TermKind::l1_lines) == by_passes && excess(facts.code[s.producer], by_passes) > 0 &&
           (by_passes || s.term == TermKind::l2_bandwidth || s.term == TermKind::dram_bandwidth);
  });
  if (at == nullptr)  // it does not wait behind an access of its own
    for (const Instruction& one : facts.code)
      if (excess(one, by_passes) > (at == nullptr ? 0 : excess(*at, by_passes))) at = &one;
  const double saved = of_passes + of_sectors;
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
  if (!loads_repeat(facts)) return std::nullopt;
  const double bytes = loaded_bytes(facts);
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

std::optional<Finding> global_narrow(const Facts& facts) {
  std::map<std::pair<std::string, int>, double> lines;  // the share of its instructions that wider accesses save
  for (const Instruction& one : facts.code)
    if (is_narrow(one) && one.line > 0) lines[{one.file, one.line}] = 1 - one.width / kWidest;
  double saved = 0, most = 0;
  const Instruction* at = nullptr;
  for (const Stall& stall : facts.stalls) {
    if (stall.term != TermKind::issue || stall.producer == Stall::kNone) continue;
    const Instruction& one = facts.code[stall.producer];
    const auto line = lines.find({one.file, one.line});
    if (line == lines.end() || !(is_narrow(one) || is_overhead(one.unit))) continue;
    saved += stall.time * line->second;
    if (!is_narrow(one) || stall.time <= most) continue;
    most = stall.time;
    at = &one;
  }
  if (at == nullptr) return std::nullopt;
  return costs(facts, RuleId::global_narrow, saved,
               fmt::format("Neighbouring lanes take {:.3g} byte{} each at {}, and an access can take {:.3g}: it needs "
                           "{:.3g} times the instructions, with those for addresses and loops.",
                           at->width, at->width == 1 ? "" : "s", place(*at), kWidest, kWidest / at->width),
               {counted("bytes of a lane", at->width, "B"), counted("requests", at->requests)}, at);
}

std::optional<Finding> local_spill(const Facts& facts) {
  const auto& variant = facts.seen.variant;
  if (!variant || variant->spill_bytes <= 0 || saves_at_calls(*variant)) return std::nullopt;
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

std::optional<Finding> local_recursion(const Facts& facts) {
  const auto& variant = facts.seen.variant;
  const Instruction* at = local_access(facts);
  if (!variant || !saves_at_calls(*variant) || at == nullptr) return std::nullopt;
  return costs(facts, RuleId::local_recursion, local_us(facts),
               "A function calls itself, so its registers are saved in local memory at each call.",
               {counted("registers", double(variant->registers), "per thread"),
                modelled("time of local memory", local_us(facts))},
               at);
}

std::optional<Finding> atomics_meet(const Facts& facts) {
  const Instruction* at = carrier(facts, [](const Stall& s) { return s.term == TermKind::atomics; });
  if (at == nullptr) return std::nullopt;
  const double us = term_us(facts, TermKind::atomics), turns = at->turns / std::max(1.0, at->requests);
  std::string sentence =
      fmt::format("Atomics wait for others {} of the time, most at {}: the lanes of a request take {:.3g} turn{} {}.",
                  percent(us / time_us(facts)), place(*at), turns, turns == 1 ? "" : "s",
                  at->atomic ? "at words and sectors of global memory" : "in a bank of shared memory");
  std::vector<Evidence> evidence{modelled("time of the queue", us), counted("turns of a request", turns)};
  if (at->atomic) {
    sentence += fmt::format(
        " All CTAs take {} turns in the busiest sector and {} in the busiest 512 bytes, one after the other.",
        with_commas(int64_t(facts.hottest.sector)), with_commas(int64_t(facts.hottest.piece)));
    evidence.push_back(counted("turns in the busiest sector", facts.hottest.sector));
    evidence.push_back(counted("turns in the busiest 512 bytes", facts.hottest.piece));
  }
  return costs(facts, RuleId::atomics_meet, us, std::move(sentence), std::move(evidence), at);
}

constexpr RuleOf kMemoryRules[] = {
    {RuleId::bank_conflicts, bank_conflicts,
     "What helps: pad each row, by a multiple of its widest access (4 floats for float4), or permute its 16-byte "
     "chunks by the row's number (a swizzle).",
     Wants::layout},
    {RuleId::shared_queue, shared_queue,
     "What helps: compute several outputs a thread, so that a value that is read stays in a register for all of them."},
    {RuleId::global_scattered, global_scattered, "What helps: let neighbouring lanes read neighbouring bytes."},
    {RuleId::global_repeated, global_repeated,
     "What helps: keep a tile in shared memory or registers and use it for more rows."},
    {RuleId::global_narrow, global_narrow, "What helps: vector types such as float4 for neighbouring values.",
     Wants::wide},
    {RuleId::atomics_meet, atomics_meet,
     "What helps: combine the values of a warp or of a CTA first, by shuffles or in shared memory."},
    {RuleId::local_spill, local_spill,
     "What helps: smaller tiles in registers, a lower unroll, or a higher register limit."},
    {RuleId::local_stack, local_stack,
     "What helps: unroll the loops over the array, so that its indices are constants and it stays in registers."},
    {RuleId::local_recursion, local_recursion, "What helps: a loop, with an array for what the calls keep."}};

}  // namespace

std::span<const RuleOf> memory_rules() { return kMemoryRules; }

}  // namespace attnscope::explain
