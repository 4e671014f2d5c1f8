#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "charts/figure.h"
#include "core/observation.h"
#include "core/sm_timeline.h"

namespace attnscope::charts {

// The state that takes most of a warp's column; empty if there is no warp for most of it.
std::optional<WarpState> most_of(const SmTimeline& timeline, size_t warp, size_t column);

// Each state's share of the clocks in which the SM's warps are present; all zero without warps.
using StateShares = std::array<double, kWarpStates>;
StateShares state_shares(const SmTimeline& timeline);

// The same warps in at most `columns` columns.
SmTimeline coarser(const SmTimeline& timeline, size_t columns);

// "1,228 clocks, 0.66 us", at the clock that the kernel runs at.
std::string clocks_text(const SmTimeline& timeline, double clocks);
FigureKind kind_of(const SmTimeline& timeline);
// "SM 3 of 58 (emulated:l4): 3 CTAs, 2 at a time; 1,228 clocks, 0.66 us". `device` is the device's name.
std::string timeline_heading(const SmTimeline& timeline, const std::string& device);
// What the timeline leaves out, as a sentence; empty if it is complete.
std::string timeline_caution(const SmTimeline& timeline);
// The CTAs that an SM holds at most. Measured: by its twin's occupancy, because a grid may fill no SM.
int64_t at_a_time(const SmTimeline& timeline);
// The wave of a CTA, from 0. A wave fills every place of the device at once.
int64_t wave_of(const SmTimeline& timeline, const CtaSpan& cta);
int64_t ctas_on(const SmTimeline& timeline, int64_t sm);  // counts only the CTAs in the timeline
double ctas_end(const SmTimeline& timeline);              // the clock at which the last CTA in it ends; 0 without CTAs

// Why A's timeline cannot stand beside B's: "one is measured, the other modelled", "A's is of another launch: row_sum".
// Empty if it can.
std::string unlike_timelines(const SmTimeline& a, const SmTimeline& b);

// A figure with the CTAs of every SM, and one with the warps of one SM.
Figure ctas_figure(const SmTimeline& timeline, const std::string& device);
Figure warps_figure(const SmTimeline& timeline, const std::string& device);

}  // namespace attnscope::charts
