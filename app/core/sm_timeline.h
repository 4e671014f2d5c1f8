#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// What a warp of a simulated SM does in a given clock.
enum class WarpState {
  issue,    // its instruction issues
  turn,     // ready, but its scheduler, the instruction's unit or the register banks are busy
  result,   // it waits for a result: a stall count, a jump, MUFU, a shuffle, a constant
  shared,   // it waits for shared memory
  memory,   // it waits for global or local memory
  barrier,  // it waits at its CTA's barrier
  start     // its CTA has a place and has not started yet
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
// The state as the end of a sentence: "the instruction's unit or an issue slot is taken".
const char* sentence_of(WarpState state);

// Selects an SM of a run and a range of clocks.
struct TimelineAsk {
  bool measured = false;                 // by a GPU's clocks, from a launch of an instrumented twin
  int64_t sm = -1;                       // -1: an SM with the most work
  int64_t from = 0, to = 0;              // clocks; `to` 0: until the SM's last CTA has ended
  std::optional<int64_t> step = {};      // for a program: the launch's step number; empty: the longest launch
  static constexpr int64_t kLeast = 16;  // the shortest range, in clocks
  bool operator==(const TimelineAsk&) const = default;
};

// When a CTA runs on an SM, in clocks from the first CTA's start.
struct CtaSpan {
  int64_t cta = 0;  // x + grid.x·(y + grid.y·z)
  int64_t sm = 0, place = 0;
  double from = 0, to = 0;
  bool operator==(const CtaSpan&) const = default;
};

// A warp slot of the SM: warp `warp` of the CTAs that run at `place`, one after the other.
struct WarpPlace {
  int64_t place = 0, warp = 0, scheduler = 0;
  bool operator==(const WarpPlace&) const = default;
};

// A warp of a measured SM, from its first instruction to its last, in the same clocks.
struct WarpSpan {
  int64_t row = 0;  // index in SmTimeline::warps
  int64_t cta = 0;
  double from = 0, to = 0;
  bool operator==(const WarpSpan&) const = default;
};

// The kernel with the code that records its clocks (catalog/clock_twin.h), and how far it differs from the kernel.
struct ClockTwin {
  int64_t registers = 0, kernel_registers = 0;  // per thread
  int64_t ctas_sm = 0, kernel_ctas_sm = 0;      // resident on an SM at most
  bool operator==(const ClockTwin&) const = default;
};

// A run's SMs over time: as the latency model simulates them, or as a GPU's own clocks time an instrumented twin.
struct SmTimeline {
  static constexpr size_t kMostCtas = 1 << 14, kMostWarps = 128;
  static constexpr size_t kMostSpans = 1 << 14;  // of one SM's warps
  static constexpr size_t kColumns = 512;        // the most columns that the requested clocks are divided into

  int64_t sms = 0, sm = 0;  // SMs of the device; the SM that the warps belong to
  int64_t places = 0;       // CTAs resident on an SM; measured: the most that any SM held
  int64_t total_ctas = 0;   // of the grid
  double clock_mhz = 0;
  double clocks = 0;     // until the SM's last CTA ended, or the simulation stopped
  bool complete = true;  // false: the simulation stopped early
  // The CTAs differ: those of other SMs end in proportion to their instructions, at this SM's rate.
  bool by_instructions = false;
  std::vector<CtaSpan> ctas;  // ascending by CTA; the first kMostCtas of the grid
  std::vector<WarpPlace> warps;
  double from = 0, column = 1;  // clocks: the start of the columns, and a column's width
  int64_t columns = 0;
  std::optional<ClockTwin> twin = {};  // set if measured; then there are spans instead of shares
  std::vector<WarpSpan> spans = {};    // ascending by row, then from; the first kMostSpans
  // Shares of each column's clocks: for each warp, for each column, one number per WarpState. For the rest to 1 there
  // is no warp.
  std::vector<float> shares;
  std::optional<std::string> launch = {};  // for a program: the launch's name

  bool measured() const { return twin.has_value(); }
  double to() const { return from + column * double(columns); }  // the clock behind the last one asked for
  float share(size_t warp, size_t at, WarpState state) const {
    return shares[(warp * static_cast<size_t>(columns) + at) * kWarpStates + static_cast<size_t>(state)];
  }
  // The CTA that runs at a place of this SM at that clock; null if there is none.
  const CtaSpan* cta_at(int64_t place, double clock) const;
  bool operator==(const SmTimeline&) const = default;
};

}  // namespace attnscope
