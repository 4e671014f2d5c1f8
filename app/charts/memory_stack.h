#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/observation.h"

namespace attnscope::charts {

// One buffer's place in a CTA's shared memory, in bytes from its start.
struct MemorySegment {
  std::string name;
  int64_t begin = 0, end = 0;
  bool dynamic = false;
  bool padding = false;  // the compiler's total minus the sum of the buffers
  int64_t bytes() const { return end - begin; }
};

enum class LimitKind { static_block, optin_block, sm_total };

struct MemoryMark {
  LimitKind kind = LimitKind::static_block;
  int64_t bytes = 0;
  std::string label;     // "48 KB static"
  std::string sentence;  // its meaning, for a tooltip
};

// A CTA's shared memory as a stack, with the device's limits, and how many such CTAs fit on one SM.
struct MemoryStack {
  std::vector<MemorySegment> segments;  // largest first within static, then within dynamic
  int64_t static_bytes = 0, dynamic_bytes = 0;
  int64_t total_bytes = 0;        // per CTA
  int64_t reserved_bytes = 0;     // used by the system, per CTA
  std::vector<MemoryMark> marks;  // ascending by bytes
  int64_t scale_bytes = 0;        // right end of the gauge
  int64_t ctas = 0;               // resident on one SM; 0: unknown
  bool over_static = false;       // the static part exceeds the static limit
  bool over_optin = false;        // the total exceeds the opt-in limit
};

MemoryStack memory_stack(const VariantInfo& variant, const Occupancy* occupancy, const DeviceSpec& spec);

// "Shared memory limits it: 2 CTAs hold 75,776 of 102,400 B, one more does not fit."
std::string limiter_sentence(const VariantInfo& variant, const Occupancy& occupancy, const DeviceSpec& spec);
// "128 CTAs for 116 places: 1.10 waves, 12 CTAs run a second wave."
std::string waves_sentence(const Occupancy& occupancy);

}  // namespace attnscope::charts
