#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "core/touch.h"
#include "emulator/exec/cta.h"
#include "emulator/exec/memory.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Records which bytes of each buffer the CTAs of a run access. One host thread must run them all, one after the other,
// because the order of a CTA's read and store of one byte counts.
class TouchLog final : public Observer {
 public:
  // From then on, the bound launch is observed. `memory` must outlive the log.
  TouchLog(BoundLaunch& bound, const GlobalMemory& memory);

  std::vector<Touch> touches() const;
  uint64_t accesses() const { return accesses_; }  // of lanes

  void start(uint32_t cta) override;
  void warp_synced(uint32_t) override {}
  void arrived(uint32_t, uint32_t) override {}
  void released(uint32_t, const std::vector<std::pair<uint32_t, uint32_t>>&, bool, uint32_t) override {}

 private:
  static constexpr uint16_t kNever = 0, kEarlier = UINT16_MAX;

  struct Area {
    Touch touch;
    uint64_t accessed = 0;  // bytes, those of each access
    // By byte: kNever, kEarlier, or turn_ of the CTA that stored it last. Empty until the first store.
    std::vector<uint16_t> stored_by;
  };

  static void look(Warp& warp, const Op& op, uint32_t mask);
  void add(Warp& warp, const Op& op, uint32_t mask);
  void access(uint64_t address, uint32_t bytes, AccessKind kind);

  const GlobalMemory& memory_;
  std::vector<Unwatched> own_;  // by instruction
  std::vector<Area> areas_;     // by buffer
  size_t last_ = 0;             // the buffer of the last access
  const bool together_;         // all CTAs of a cooperative launch are one turn: their barriers order them
  uint16_t turn_ = 0;           // of the CTA that runs
  uint64_t accesses_ = 0;
};

// Runs every CTA of the launch on the calling thread. `most_work`: of Touches::work, which a run may exceed by little
// more than a CTA's. Failures: those of run(), emulator.h; Stage::deadline where the work is more; Stage::cancelled as
// soon as `cancel` is set.
Result<Touches> touches_of(const Launch& launch, uint64_t most_work, const std::atomic<bool>& cancel);

}  // namespace attnscope::emulator
