#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/result.h"
#include "core/touch.h"
#include "emulator/exec/cta.h"
#include "emulator/exec/memory.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Which CTA stored each byte of a buffer last, as its turn, 1 to kEarlier - 1. Takes memory only for pages that were
// stored to: a buffer with room to spare has many that never are.
class StoredBy {
 public:
  static constexpr uint16_t kNever = 0, kEarlier = UINT16_MAX;

  void resize(size_t bytes) { pages_.resize((bytes + kPage - 1) / kPage); }
  bool empty() const { return pages_.empty(); }
  uint16_t of(size_t byte) const {
    const auto& page = pages_[byte / kPage];
    return page ? page[byte % kPage] : kNever;
  }
  void store(size_t byte, uint16_t turn) {
    auto& page = pages_[byte / kPage];
    if (!page) page = std::make_unique<uint16_t[]>(kPage);
    page[byte % kPage] = turn;
  }
  void all_earlier();  // turns begin anew

 private:
  static constexpr size_t kPage = 1 << 15;  // bytes of the buffer

  std::vector<std::unique_ptr<uint16_t[]>> pages_;
};

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
  struct Area {
    Touch touch;
    uint64_t accessed = 0;  // bytes, those of each access
    StoredBy stored_by;     // empty until the first store
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
