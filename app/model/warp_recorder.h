#pragma once
#include <cstdint>
#include <vector>

#include "core/sm_timeline.h"
#include "model/simulated_warp.h"

namespace attnscope::model {

// Records what the warps and CTAs of one simulated SM do over time, for a view. The simulation reports each issue; the
// time between two issues of a warp is divided by what the second one waited for, in order of time.
class WarpRecorder {
 public:
  // Records the clocks [from, to); to 0: all of them, in columns whose width doubles as time goes on. `columns`: the
  // most columns; 0: only the CTAs.
  WarpRecorder(double from, double to, size_t columns);

  // The `nth` CTA of the SM takes a place that is free from `free` on.
  void begin_cta(size_t nth, size_t place, double free);
  void end_cta(size_t place, double time);
  // A warp of the place's CTA is present from `free` on. `index` is its own while the SM runs.
  void begin_warp(size_t index, const SimulatedWarp& warp, double free);
  // The warp's next instruction issues.
  void issue(size_t index, const SimulatedWarp& warp, const ScheduledInstruction& instruction, double now);
  // Its last instruction ends at `done`; what it still waits for, if anything, arrives at `end`.
  void end_warp(size_t index, double done, const Awaited* last, double end);

  struct Cta {
    size_t nth = 0, place = 0;
    double from = 0, to = -1;  // to below from: it is still running
  };
  const std::vector<Cta>& ctas() const { return ctas_; }
  const std::vector<WarpPlace>& warps() const { return places_; }
  double from() const { return from_; }
  double column() const { return width_; }  // clocks
  // The number of columns until `end`; and each warp's shares of them, one number for each WarpState.
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
  std::vector<double> until_;               // by warp: recorded up to this time
  std::vector<std::vector<float>> clocks_;  // by warp: column after column, one number for each state
};

}  // namespace attnscope::model
