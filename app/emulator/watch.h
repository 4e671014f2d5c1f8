#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulator/lane_address.h"
#include "emulator/program.h"
#include "emulator/watch_finding.h"

namespace attnscope::emulator {

// The handlers that an instruction has when nobody watches.
struct Unwatched {
  Handler full = nullptr, masked = nullptr;
};

// Follows the shared and local memory of the CTA that one host thread executes: who wrote and read each byte last, and
// what orders the warps. Happens-before is kept by a vector clock a warp: a CTA or named barrier joins the clocks of
// the warps that it releases (an arrival without waiting only gives), an atomic on a shared word joins with all before
// it on that word, and an asynchronous copy becomes its warp's write where that warp waits for its group. Lanes of one
// warp are ordered as executed.
class Watch {
 public:
  // `unit`: bytes that one record stands for, the least width of any access to shared memory: 1, 2 or 4.
  void prepare(const Program& program, const std::vector<Unwatched>& unwatched, uint32_t warps, uint32_t shared_low,
               uint32_t shared_bytes, uint32_t local_bytes);
  void start(uint32_t cta);  // forgets the CTA before, keeps the findings

  void before(Warp& warp, const Op& op, uint32_t mask);
  void arrived(uint32_t warp, uint32_t barrier);  // BAR.ARV
  // The warps of `waiting` pass the barrier, each from the instruction `at[warp]`.
  void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting);
  const Unwatched& unwatched(uint32_t op) const { return (*unwatched_)[op]; }

  // What was seen. Each pair of instructions is named once: both orders of a race are one key, of the order met first.
  struct Key {
    WatchKind kind;
    uint32_t low, high;
    auto operator<=>(const Key&) const = default;
  };
  struct Seen {
    uint64_t count = 0;
    WatchKind kind = WatchKind::shared_write_write;
    uint32_t op = 0, other = 0;
    uint32_t cta = 0, address = 0;
    uint32_t thread = 0, other_thread = 0;
  };
  const std::map<Key, Seen>& seen() const { return seen_; }

 private:
  static constexpr uint32_t kMostWarps = 32;
  using Clock = std::array<uint32_t, kMostWarps>;
  struct Access {
    uint32_t clock = 0;  // 0: none
    uint32_t op = 0;
    uint16_t group = 0;  // of an asynchronous copy, from 1
    uint8_t warp = 0, lane = 0;
    bool atomic = false;
  };
  struct Unit {
    Access write, read, other_read;  // other_read: the last by another warp than read's
  };

  void shared(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes);
  void local(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes);
  void shuffle(Warp& warp, const Op& op, uint32_t mask);
  void copies_of(uint32_t warp, const Op& op);
  bool ordered(const Access& earlier, uint32_t warp) const;
  void report(WatchKind kind, uint32_t op, uint32_t other, uint32_t address, uint32_t thread, uint32_t other_thread);
  bool stores_the_same(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes) const;

  const Program* program_ = nullptr;
  const std::vector<Unwatched>* unwatched_ = nullptr;
  enum class Role : uint8_t { access, copy, matrices, close_group, await_group, shuffle };
  std::vector<Role> roles_;  // by instruction
  uint32_t warps_ = 0, shared_low_ = 0, shared_bytes_ = 0, local_bytes_ = 0, unit_ = 4, cta_ = 0;
  std::vector<Unit> units_;
  std::vector<uint32_t> local_written_;  // lanes, by warp and byte
  std::vector<Clock> clocks_;
  std::array<Clock, 16> given_{};                  // by arrivals that did not wait
  std::map<uint32_t, Clock> words_;                // that atomics touched
  std::vector<std::vector<uint32_t>> group_done_;  // by warp and group: its clock where the warp waited; 0: not yet
  std::map<Key, Seen> seen_;
};

// For people, ordered by kind and instruction.
std::vector<WatchFinding> findings_of(const Program& program, const std::map<Watch::Key, Watch::Seen>& seen,
                                      const std::vector<SharedName>& names);
// The least width of the program's accesses to shared memory.
uint32_t watch_unit(const Program& program);
// In front of a watched instruction's own handler.
void watched(Warp& warp, const Op& op, uint32_t mask);
bool is_watched(const Program& program, const Op& op);

}  // namespace attnscope::emulator
