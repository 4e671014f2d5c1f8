#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/machine.h"
#include "model/simulated_warp.h"
#include "model/stall.h"

namespace attnscope::model {

// The term of a wait for a unit's pipe.
TermKind pipe_term(Unit unit);

// Splits the clocks of a simulated SM into stalls. The rule:
//
// 1. Each clock is shared evenly by the schedulers that have a live warp. A scheduler without one does not count: one
//    warp on an SM is all of its time, not a quarter of it.
// 2. A scheduler's clock in which it issues belongs to `issue` and to the instruction.
// 3. A clock in which it does not issue belongs to what stalls, in that clock, the warp that this scheduler issues
//    next. Other warps wait as well, but the scheduler would have stayed idle without them too; had this warp been
//    ready, it would have issued. So latency that other warps hide costs nothing, and the last one to be hidden costs
//    all.
// 4. A wait for a result belongs to the instruction that makes it (the producer); the waiting one is the consumer. It
//    counts as the result's latency until the result would have been ready had it met no queue; from then on it counts
//    as the queue's. Bank conflicts get their share of the queued wavefronts. A wait for a pipe belongs to the
//    instruction that holds it, whichever instruction waits.
// 5. A stall count belongs to the instruction whose result it waits for (ScheduledInstruction::waits_for), otherwise to
//    the one that states it.
// 6. A warp whose place becomes free at t is live from t on: until it starts it waits for `launch`. A scheduler's last
//    clocks, after its last issue, belong to the results that the CTA still waits for.
// 7. From when a place stays empty because no CTA is left, the share of empty places belongs to `tail`, and the rest of
//    each clock to the causes above.
//
// Clocks come in order: times are never before those of an earlier call to issue().
class Attribution {
 public:
  // `places`: CTAs resident on the SM.
  Attribution(const std::vector<ScheduledInstruction>& code, size_t places);

  // A warp is live on its scheduler from `time` on; leave() ends that at `time`. Both may be called ahead of time.
  void enter(double time, const SimulatedWarp& warp);
  // `last`: what the warp finally waits for; null: for its last instruction.
  void leave(double time, const SimulatedWarp& warp, const Awaited* last);
  void empty_place(double time);

  // The warp's next instruction issues at `now`. `holder()`: the previous holder of its unit or of its registers'
  // banks, which is not needed if the scheduler has issued without a gap.
  template <class FindHolder>
  void issue(const SimulatedWarp& warp, double now, FindHolder holder) {
    if (now >= next_change_) apply_changes(now);
    Lane& lane = lanes_[static_cast<size_t>(warp.scheduler)];
    if (const double gap = now - lane.until; gap != 0) {
      // Most gaps are caused by one stall count or one pipe.
      const bool one_producer = (warp.previous + 1 == warp.next) || code_[warp.next].waits_for > 0;
      const bool of_stall = (warp.stalled >= now) & one_producer, of_pipe = warp.complete <= lane.until;
      if ((of_stall | of_pipe) & (lane.until >= epoch_.time))
        (of_pipe ? held_by(holder()) : sums_.own[warp.next].stalled) += gap * epoch_.slope;
      else if (gap > 0)
        attribute_gap(lane.until, warp, now, holder());
    }
    sums_.own[warp.next].issued += epoch_.slope;
    lane.until = now + 1;
    lane.issued = warp.next;
  }

  // The sums attributed up to a moment.
  struct Sums {
    struct Own {
      double issued = 0;   // its issues
      double stalled = 0;  // time that it waited by stall counts for the instruction of stall_producer()
      double held = 0;     // time that it held its unit while another waited for that
      double banked = 0;   // the same for the banks that it reads registers from
    };
    struct Entry {
      uint32_t producer;
      TermKind term;
      double clocks;
    };
    std::vector<Own> own;                     // by instruction
    std::vector<std::vector<Entry>> entries;  // by consumer: all other stalls
    double tail = 0;
  };
  Sums sums(double now) const;
  // Adds `clocks` that are split like those between `before` and now.
  void repeat(const Sums& before, double now, double clocks);

  // The clocks so far, as stalls that sum to `clocks`: the part of a run that was not simulated is split like the rest.
  std::vector<Stall> finish(double clocks, bool complete);

 private:
  struct Lane {  // a scheduler
    int live = 0;
    double until = 0;     // attributed up to this time
    uint32_t issued = 0;  // the instruction that issued last
  };
  enum class What : uint8_t { leave, enter, empty };  // in the order in which changes at the same time apply
  struct Change {
    double time;
    What what;
    uint8_t scheduler;
    TermKind term;  // for leave
    uint32_t producer, consumer;
    bool operator>(const Change& other) const { return time != other.time ? time > other.time : what > other.what; }
  };
  struct Epoch {          // the time between two changes
    double time, weight;  // weight: what one scheduler's clocks count for until `time`
    double slope;         // what one clock counts for
  };

  void change(Change what);
  void apply_changes(double now);
  void apply(const Change& what);
  double weight_at(double time) const;
  double weight(double from, double to) const {
    return from >= epoch_.time ? (to - from) * epoch_.slope : weight_at(to) - weight_at(from);
  }
  void attribute_gap(double from, const SimulatedWarp& warp, double now, const Holder& holder);
  double& held_by(const Holder& holder) {
    Sums::Own& own = sums_.own[holder.by];
    return holder.banks ? own.banked : own.held;
  }
  uint32_t stall_producer(uint32_t consumer) const {
    return consumer - std::max<uint32_t>(1, code_[consumer].waits_for);
  }
  void add(TermKind term, uint32_t producer, uint32_t consumer, double clocks);

  const std::vector<ScheduledInstruction>& code_;
  double places_;
  std::array<Lane, kSchedulers> lanes_{};
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  double next_change_;
  Epoch epoch_{0, 0, 0};       // the last one
  std::vector<Epoch> epochs_;  // all of them
  double empty_places_ = 0, tail_slope_ = 0;
  Sums sums_;
};

}  // namespace attnscope::model
