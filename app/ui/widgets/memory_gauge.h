#pragma once
#include <cstdint>
#include <optional>

#include "charts/memory_stack.h"

namespace attnscope::ui {

// The SM's shared memory as a bar: the first CTA stacked by buffer, the other resident CTAs paler, the limits as marks.
// Hovering shows buffer, size and position. A dashed outline shows the baseline's CTA, if there is one.
void memory_gauge(const charts::MemoryStack& stack, std::optional<int64_t> baseline_bytes = std::nullopt);

// Names and sizes of the first CTA's buffers, in the bar's colours. `a`: a buffer of another size in A, or that only A
// has, says so.
void memory_legend(const charts::MemoryStack& stack, const charts::MemoryStack* a = nullptr);

// The SM's warp slots: the resident CTAs' warps filled, with gaps between CTAs. `a`: the slots that A fills, as dashes.
void warp_slots(int64_t slots, int64_t ctas, int64_t warps_a_cta, std::optional<int64_t> a = std::nullopt);

// The grid's waves as rows of equal length, the last one filled in proportion. Many full waves are drawn as one with
// their number.
void wave_rows(const Occupancy& occupancy);

}  // namespace attnscope::ui
