#pragma once
#include "charts/memory_stack.h"

namespace attnscope::ui {

// The SM's shared memory as a bar: the first CTA stacked by buffer, the CTAs that reside beside it paler, the limits as
// marks. Hovering names buffer, size and place.
void memory_gauge(const charts::MemoryStack& stack);

// Names and sizes of the first CTA's buffers, in the bar's colours.
void memory_legend(const charts::MemoryStack& stack);

// The SM's warp slots, the resident CTAs' warps filled and told apart by gaps.
void warp_slots(int64_t slots, int64_t ctas, int64_t warps_a_cta);

// The grid's waves as rows of one length, the last one as full as it is. Many full waves are drawn as one with their
// number.
void wave_rows(const Occupancy& occupancy);

}  // namespace attnscope::ui
