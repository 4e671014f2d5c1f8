#include "charts/memory_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

void stack_part(MemoryStack& stack, const VariantInfo& variant, bool dynamic, int64_t total) {
  std::vector<SharedBuffer> buffers;
  for (const SharedBuffer& buffer : variant.shared_buffers)
    if (buffer.dynamic == dynamic && buffer.bytes > 0) buffers.push_back(buffer);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const SharedBuffer& a, const SharedBuffer& b) { return a.bytes > b.bytes; });
  const int64_t start = stack.total_bytes;
  int64_t at = start;
  for (const SharedBuffer& buffer : buffers) {
    stack.segments.push_back({buffer.name, at, at + buffer.bytes, dynamic, false});
    at += buffer.bytes;
  }
  if (at < start + total)
    stack.segments.push_back({buffers.empty() ? "unnamed" : "padding", at, start + total, dynamic, !buffers.empty()});
  stack.total_bytes = std::max(at, start + total);
}

std::string plural(int64_t count, const char* noun) {
  return fmt::format("{} {}{}", with_commas(count), noun, count == 1 ? "" : "s");
}

}  // namespace

MemoryStack memory_stack(const VariantInfo& variant, const Occupancy* occupancy, const DeviceSpec& spec) {
  MemoryStack stack;
  stack.static_bytes = variant.static_shared_bytes;
  stack.dynamic_bytes = variant.dynamic_shared_bytes;
  stack_part(stack, variant, false, variant.static_shared_bytes);
  stack_part(stack, variant, true, variant.dynamic_shared_bytes);
  stack.reserved_bytes = spec.shared_reserved_block;
  stack.ctas = occupancy ? occupancy->ctas_per_sm : 0;
  stack.over_static = spec.shared_static_block > 0 && stack.static_bytes > spec.shared_static_block;
  stack.over_optin = spec.shared_optin_block > 0 && stack.total_bytes > spec.shared_optin_block;
  if (spec.shared_static_block > 0)
    stack.marks.push_back({LimitKind::static_block, spec.shared_static_block,
                           kib_text(spec.shared_static_block) + " static",
                           fmt::format("A CTA may declare {} of static shared memory; more must be dynamic.",
                                       bytes_text(spec.shared_static_block))});
  if (spec.shared_optin_block > 0)
    stack.marks.push_back({LimitKind::optin_block, spec.shared_optin_block,
                           kib_text(spec.shared_optin_block) + " opt-in",
                           fmt::format("{} gives a CTA up to {} of dynamic shared memory after an opt-in.", spec.name,
                                       bytes_text(spec.shared_optin_block))});
  if (spec.shared_sm > 0)
    stack.marks.push_back({LimitKind::sm_total, spec.shared_sm, kib_text(spec.shared_sm) + " SM",
                           fmt::format("One SM of {} has {}, shared by its CTAs; each also takes {} for the system.",
                                       spec.name, bytes_text(spec.shared_sm), bytes_text(spec.shared_reserved_block))});
  std::stable_sort(stack.marks.begin(), stack.marks.end(),
                   [](const MemoryMark& a, const MemoryMark& b) { return a.bytes < b.bytes; });
  stack.scale_bytes = std::max({spec.shared_sm, stack.total_bytes, int64_t{1}});
  return stack;
}

std::string limiter_sentence(const VariantInfo& variant, const Occupancy& occupancy, const DeviceSpec& spec) {
  if (occupancy.ctas_per_sm == 0) return "No CTA fits on an SM.";
  const int64_t n = occupancy.ctas_per_sm;
  if (occupancy.limiter == Limiter::shared_memory) {
    const int64_t each = variant.static_shared_bytes + variant.dynamic_shared_bytes + spec.shared_reserved_block;
    return fmt::format("Shared memory limits it: {} {} {} of {}, one more does not fit.", plural(n, "CTA"),
                       n == 1 ? "takes" : "take", with_commas(n * each), bytes_text(spec.shared_sm));
  }
  if (occupancy.limiter == Limiter::registers)
    return fmt::format("Registers limit it: {} per thread of {} per SM leave room for {}.", variant.registers,
                       with_commas(spec.registers_sm), plural(n, "CTA"));
  if (occupancy.limiter == Limiter::warps)
    return fmt::format("The SM's {} warps limit it: {} {} {}.", spec.warps_sm, plural(n, "CTA"),
                       n == 1 ? "takes" : "take", occupancy.warps_per_sm);
  if (occupancy.limiter == Limiter::ctas)
    return fmt::format("The SM's limit of {} is the tightest.", plural(spec.ctas_sm, "CTA"));
  if (occupancy.limiter == Limiter::unknown) return {};
  return fmt::format("Limited by {}: {} per SM.", to_string(occupancy.limiter), plural(n, "CTA"));
}

std::string waves_sentence(const Occupancy& occupancy) {
  if (occupancy.resident_ctas <= 0) return {};
  const std::string places =
      fmt::format("{} for {}", plural(occupancy.total_ctas, "CTA"), plural(occupancy.resident_ctas, "place"));
  if (occupancy.total_ctas <= occupancy.resident_ctas) {
    const int64_t empty = occupancy.resident_ctas - occupancy.total_ctas;
    return empty == 0 ? places + ": one full wave."
                      : fmt::format("{}: one wave, {} of them empty.", places, with_commas(empty));
  }
  if (occupancy.tail_ctas == 0) return fmt::format("{}: {:.0f} full waves.", places, occupancy.waves);
  return fmt::format("{}: {:.2f} waves, {} left for the last.", places, occupancy.waves,
                     plural(occupancy.tail_ctas, "CTA"));
}

}  // namespace attnscope::charts
