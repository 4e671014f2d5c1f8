#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/shared_access.h"
#include "emulator/exec/observer.h"
#include "emulator/isa/program.h"
#include "emulator/watch/finding.h"
#include "emulator/watch/global.h"
#include "emulator/watch/order.h"
#include "emulator/watch/seen.h"
#include "emulator/watch/shared.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Tracks the memory of the CTA that one host thread executes: who last wrote and read each part, and what orders the
// accesses. Shared memory is in shared.h and order.h, global memory in global.h, local memory here. Lanes of one warp
// are ordered by whatever synchronises the warp: WARPSYNC, the NOP that a __syncwarp leaves if its lanes are together
// anyway, and CTA barriers.
class Watch : public Observer {
 public:
  void prepare(const Program& program, const std::vector<Unwatched>& unwatched, GlobalShadow* shadow, uint32_t warps,
               uint32_t shared_low, uint32_t shared_bytes, uint32_t local_bytes);
  // The memory that it takes before the first access.
  static uint64_t bytes_taken(const Program& program, uint32_t warps, uint32_t shared_bytes, uint32_t local_bytes);
  void start(uint32_t cta) override;  // forgets the previous CTA and keeps the findings

  // Gives a bound instruction the observing handlers if it is relevant, and stores its own in `own`.
  static void bind(Op& op, Unwatched& own);

  void warp_synced(uint32_t warp) override;
  void arrived(uint32_t warp, uint32_t barrier) override;
  void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                uint32_t exited) override;

  const WatchLog::Seen& seen() const { return log_.seen(); }

 private:
  // Each of these also performs the instruction. At least one lane is active.
  void shared_load(Warp& warp, const Op& op, uint32_t mask);
  void matrix_load(Warp& warp, const Op& op, uint32_t mask);
  void shared_store(Warp& warp, const Op& op, uint32_t mask);
  void copy(Warp& warp, const Op& op, uint32_t mask);
  void close_group(Warp& warp, const Op& op, uint32_t mask);
  void await_groups(Warp& warp, const Op& op, uint32_t mask);
  void local(Warp& warp, const Op& op, uint32_t mask);
  void global(Warp& warp, const Op& op, uint32_t mask);
  void any_space(Warp& warp, const Op& op, uint32_t mask);  // generic addresses, and atomics on shared memory
  void begin_mbarrier(Warp& warp, const Op& op, uint32_t mask);
  void arrive(Warp& warp, const Op& op, uint32_t mask);
  void check_phase(Warp& warp, const Op& op, uint32_t mask);
  void shuffle(Warp& warp, const Op& op, uint32_t mask);
  void warp_sync(Warp& warp, const Op& op, uint32_t mask);
  void fence(Warp& warp, const Op& op, uint32_t mask);

  using Look = void (Watch::*)(Warp&, const Op&, uint32_t);
  template <Look kLook>
  static void look(Warp& warp, const Op& op, uint32_t mask);
  static Handler handler_of(const Op& op);  // nullptr: not observed

  void load(Warp& warp, const Op& op, uint32_t mask, uint32_t address, uint32_t bytes);
  void store(Warp& warp, const Op& op, uint32_t mask, bool copy);
  const Pattern& store_pattern(Warp& warp, const Op& op, uint32_t mask, uint32_t lane, uint32_t phase, bool copy);
  void local_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address);
  void shared_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address);
  void handle(Warp& warp, const Op& op, uint32_t mask) const { unwatched_[op.index].handle(warp, op, mask); }

  // What arrived at an mbarrier: in the phase that goes on, and in those that are over.
  struct Mbarrier {
    struct Copies {
      uint32_t warp = 0;
      size_t groups = 0;  // the warp's first ones
      uint32_t time = 0;  // when they arrived
    };
    struct Arrived {
      SharedOrder::Clock shared{};
      GlobalOrder::Known global;
      std::vector<Copies> copies;
    };
    Arrived now, before;
  };
  void take(uint32_t warp, Mbarrier& from);
  void arrive_at(Warp& warp, uint32_t address, bool copies);

  const Program* program_ = nullptr;
  const Unwatched* unwatched_ = nullptr;  // by instruction
  uint32_t warps_ = 0, shared_low_ = 0, local_bytes_ = 0;
  WatchLog log_;
  SharedOrder order_;
  SharedShadow shared_;
  GlobalWatch global_;
  std::vector<const Pattern*> copy_patterns_;  // by instruction: the last pattern on a copy's shared side
  std::vector<uint32_t> local_written_;        // one bit per lane, by warp and byte
  std::map<uint32_t, Mbarrier> mbarriers_;     // by address
};

// As text for people, ordered by kind and instruction.
std::vector<WatchFinding> findings_of(const Program& program, const WatchLog::Seen& seen,
                                      const std::vector<SharedPlace>& names, const GlobalShadow& shadow);

}  // namespace attnscope::emulator
