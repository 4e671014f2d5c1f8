#pragma once
#include <cstdint>
#include <vector>

#include "core/sm_timeline.h"
#include "model/simulated_warp.h"

namespace attnscope::model {

// What the warps and CTAs of one simulated SM do over time, for a view. The simulation tells it of each issue; what
// lies between two issues of a warp is split by what the second one waited for, in order of time.
class WarpRecorder {
 public:
  // Of the clocks [from, to); to 0: all of them, in columns that double their width as time goes on. `columns`: at
  // most so many; 0: only the CTAs.
  WarpRecorder(double from, double to, size_t columns);

  // The `nth` CTA of the SM takes a place that is free from then on.
  void begin_cta(size_t nth, size_t place, double free);
  void end_cta(size_t place, double time);
  // A warp of the place's CTA is there from `free` on; `index` is its own as long as the SM runs.
  void begin_warp(size_t index, const SimulatedWarp& warp, double free);
  // The warp's next instruction issues.
  void issue(size_t index, const SimulatedWarp& warp, const ScheduledInstruction& instruction, double now);
  // Its last instruction is over at `done`; what it still waits for, if anything, is there at `end`.
  void end_warp(size_t index, double done, const Awaited* last, double end);

  struct Cta {
    size_t nth = 0, place = 0;
    double from = 0, to = -1;  // to below from: it runs on
  };
  const std::vector<Cta>& ctas() const { return ctas_; }
  const std::vector<WarpPlace>& warps() const { return places_; }
  double from() const { return from_; }
  double column() const { return width_; }  // clocks
  // Columns until `end`; each warp's shares of them, a number for each WarpState.
  size_t columns_until(double end) const;
  std::vector<float> shares(double end) const;

 private:
  void add(size_t index, WarpState state, double from, double to);
  void widen();

  double from_, width_;
  bool grows_;
  size_t columns_;
  std::vector<Cta> ctas_;
  std::vector<size_t> running_;             // by place: index into ctas_
  std::vector<WarpPlace> places_;           // by warp
  std::vector<double> until_;               // by warp: recorded so far
  std::vector<std::vector<float>> clocks_;  // by warp: column after column, a number for each state
};

}  // namespace attnscope::model
