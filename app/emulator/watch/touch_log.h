#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "core/touch.h"
#include "emulator/exec/cta.h"
#include "emulator/exec/memory.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Records which bytes of each buffer the CTAs of a run access. One host thread must run them all, because the order of
// a read and a store of one byte counts.
class TouchLog final : public Observer {
 public:
  // From then on, the bound launch is observed. `memory` must outlive the log.
  TouchLog(BoundLaunch& bound, const GlobalMemory& memory);

  Touches touches() const;

  void start(uint32_t cta) override;
  void warp_synced(uint32_t) override {}
  void arrived(uint32_t, uint32_t) override {}
  void released(uint32_t, const std::vector<std::pair<uint32_t, uint32_t>>&, bool, uint32_t) override {}

 private:
  struct Area {
    Touch touch;
    std::vector<bool> stored;  // by byte; empty until the first store
  };

  static void look(Warp& warp, const Op& op, uint32_t mask);
  void add(Warp& warp, const Op& op, uint32_t mask);
  void access(uint64_t address, uint32_t bytes, AccessKind kind);

  const GlobalMemory& memory_;
  const std::array<uint32_t, 3> grid_;
  std::vector<Unwatched> own_;  // by instruction
  std::vector<Area> areas_;     // by buffer
  size_t last_ = 0;             // the buffer of the last access
  std::array<uint32_t, 3> cta_{}, most_{};
};

// Runs every CTA of the launch on the calling thread. Failures: those of run(), emulator.h; Stage::cancelled as soon as
// `cancel` is set.
Result<Touches> touches_of(const Launch& launch, const std::atomic<bool>& cancel);

}  // namespace attnscope::emulator
