#pragma once
#include "core/sm_timeline.h"

namespace attnscope::testing_support {

// Two warps of an SM in four columns of two clocks, and four CTAs on three SMs.
inline SmTimeline made_up_timeline() {
  SmTimeline made;
  made.sms = 3, made.sm = 1, made.places = 2, made.total_ctas = 4;
  made.clock_mhz = 1000, made.clocks = 8;
  made.ctas = {{0, 0, 0, 0, 7}, {1, 1, 0, 0, 8}, {2, 2, 0, 0, 7}, {3, 0, 1, 1, 8}};
  made.warps = {{0, 0, 0}, {0, 1, 1}};
  made.column = 2, made.columns = 4;
  made.shares.resize(2 * 4 * kWarpStates);
  const auto set = [&](size_t warp, size_t at, WarpState state, float share) {
    made.shares[(warp * 4 + at) * kWarpStates + static_cast<size_t>(state)] = share;
  };
  set(0, 0, WarpState::issue, 0.75f);
  set(0, 0, WarpState::memory, 0.25f);
  set(0, 1, WarpState::memory, 1);
  set(0, 2, WarpState::memory, 1);
  set(0, 3, WarpState::barrier, 1);
  set(1, 0, WarpState::start, 1);
  set(1, 1, WarpState::issue, 1);
  set(1, 2, WarpState::shared, 1);
  set(1, 3, WarpState::result, 0.25f);
  return made;
}

// The same CTAs by a GPU's clocks; the twin has four registers more.
inline SmTimeline made_up_clocks() {
  SmTimeline made = made_up_timeline();
  made.shares.clear();
  made.twin = {44, 40, 2, 2};
  made.columns = 1, made.column = 8;
  made.spans = {{0, 1, 0, 8}, {1, 1, 1, 6}};
  return made;
}

}  // namespace attnscope::testing_support
