#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// What a warp of a simulated SM does at a clock.
enum class WarpState {
  issue,    // its instruction issues
  turn,     // it has all that it needs; its scheduler, the instruction's unit or the registers' banks are taken
  result,   // it waits for an instruction's result: a stall count, a jump, MUFU, a shuffle, a constant
  shared,   // … for shared memory
  memory,   // … for global or local memory
  barrier,  // … at its CTA's barrier
  start     // its CTA has its place and does not run yet
};
template <>
struct Words<WarpState> {
  using enum WarpState;
  static constexpr WordTable<WarpState, 7> table{{{issue, "issue"},
                                                  {turn, "pipe or turn"},
                                                  {result, "result"},
                                                  {shared, "shared memory"},
                                                  {memory, "global memory"},
                                                  {barrier, "barrier"},
                                                  {start, "start"}}};
};
inline constexpr size_t kWarpStates = Words<WarpState>::table.size();
// The state as a sentence's end: "the instruction's unit or an issue slot is taken".
const char* sentence_of(WarpState state);

// Which SM of a run, and which clocks of its warps.
struct TimelineAsk {
  int64_t sm = -1;                       // -1: one with the most work
  int64_t from = 0, to = 0;              // clocks; to 0: until the SM's last CTA has ended
  std::optional<int64_t> step = {};      // of a program: its launch; left out: the longest
  static constexpr int64_t kLeast = 16;  // clocks that can be asked for
  bool operator==(const TimelineAsk&) const = default;
};

// A CTA on an SM, in clocks from the first CTA's start.
struct CtaSpan {
  int64_t cta = 0;  // x + grid.x·(y + grid.y·z)
  int64_t sm = 0, place = 0;
  double from = 0, to = 0;
  bool operator==(const CtaSpan&) const = default;
};

// A warp's place on the SM: warp `warp` of each CTA that runs at `place`, one after the other.
struct WarpPlace {
  int64_t place = 0, warp = 0, scheduler = 0;
  bool operator==(const WarpPlace&) const = default;
};

// What the latency model's simulation of a run says of its SMs over time. All of it is modelled.
struct SmTimeline {
  static constexpr size_t kMostCtas = 1 << 14, kMostWarps = 128;
  static constexpr size_t kColumns = 512;  // that the clocks asked for are at most cut into

  int64_t sms = 0, sm = 0;  // of the device; the one whose warps these are
  int64_t places = 0;       // CTAs that an SM holds at a time
  int64_t total_ctas = 0;   // of the grid
  double clock_mhz = 0;
  double clocks = 0;             // until the SM's last CTA has ended, or as far as the simulation went
  bool complete = true;          // false: the simulation went only so far
  bool by_instructions = false;  // CTAs differ: those of the other SMs end by their instructions, at this SM's rate
  std::vector<CtaSpan> ctas;     // ascending; the first kMostCtas of the grid
  std::vector<WarpPlace> warps;
  double from = 0, column = 1;  // clocks: where the columns begin, and a column's width
  int64_t columns = 0;
  // Shares of each column's clocks: warp after warp, column after column, a number for each WarpState. What is missing
  // to 1 has no warp.
  std::vector<float> shares;
  std::optional<std::string> launch = {};  // of a program: whose it is

  float share(size_t warp, size_t at, WarpState state) const {
    return shares[(warp * static_cast<size_t>(columns) + at) * kWarpStates + static_cast<size_t>(state)];
  }
  // The CTA at a place of this SM at that clock; null: none.
  const CtaSpan* cta_at(int64_t place, double clock) const;
  bool operator==(const SmTimeline&) const = default;
};

}  // namespace attnscope
