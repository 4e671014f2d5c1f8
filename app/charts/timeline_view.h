#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "charts/figure.h"
#include "core/sm_timeline.h"

namespace attnscope::charts {

// The state that takes most of a warp's column; none: there is no warp for most of it.
std::optional<WarpState> most_of(const SmTimeline& timeline, size_t warp, size_t column);

// Of the clocks in which its warps are there, the share of each state; all zero without warps.
using StateShares = std::array<double, kWarpStates>;
StateShares state_shares(const SmTimeline& timeline);

// The same warps in at most so many columns.
SmTimeline coarser(const SmTimeline& timeline, size_t columns);

// "1,228 clocks, 0.66 us": at the clock that the kernel runs at.
std::string clocks_text(const SmTimeline& timeline, double clocks);
// "SM 3 of 58 (emulated:l4): 3 CTAs, 2 at a time; 1,228 clocks, 0.66 us". `device` is its name.
std::string timeline_heading(const SmTimeline& timeline, const std::string& device);
// What a reader must know of how far it goes; empty: it holds everything.
std::string timeline_caution(const SmTimeline& timeline);
// Which of the waves a CTA belongs to, from 0: those that fill every place of the device at once.
int64_t wave_of(const SmTimeline& timeline, const CtaSpan& cta);
int64_t ctas_on(const SmTimeline& timeline, int64_t sm);  // of those that are kept

// The CTAs of every SM; the warps of one.
Figure ctas_figure(const SmTimeline& timeline, const std::string& device);
Figure warps_figure(const SmTimeline& timeline, const std::string& device);

}  // namespace attnscope::charts
