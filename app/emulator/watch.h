#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulator/lane_address.h"
#include "emulator/program.h"
#include "emulator/watch_finding.h"
#include "emulator/watch_global.h"

namespace attnscope::emulator {

// The handlers that an instruction has when nobody watches.
struct Unwatched {
  Handler full = nullptr, masked = nullptr;
};

// Follows the memory of the CTA that one host thread executes: who wrote and read each part last, and what orders them.
// Global memory goes by an order of its own (watch_global.h); what follows is of shared memory.
//
// Time is one number for the CTA that grows with every synchronisation. Each warp has a vector clock of it: a CTA or
// named barrier joins the clocks of the warps that it releases (an arrival without waiting only gives), an atomic on a
// shared word joins with all before it on that word, and an asynchronous copy becomes its warp's write where that warp
// waits for its group. Lanes of one warp are ordered by what synchronises the warp: WARPSYNC, the NOP that a __syncwarp
// leaves where its lanes are together anyway, and CTA barriers.
//
// What was done before the last barrier that all warps passed is ordered before all that follows: one comparison a unit
// of memory, four at a time, tells that nothing is wrong. Only what fails it is looked at lane by lane.
class Watch {
 public:
  // `unit`: bytes that one record stands for, the least width of any access to shared memory: 1, 2 or 4.
  void prepare(const Program& program, const std::vector<Unwatched>& unwatched, GlobalShadow* shadow, uint32_t warps,
               uint32_t shared_low, uint32_t shared_bytes, uint32_t local_bytes);
  void start(uint32_t cta);  // forgets the CTA before, keeps the findings

  // In front of the handler, and around it where that is cheaper.
  void execute(Warp& warp, const Op& op, uint32_t mask);
  void warp_synced(uint32_t warp);
  void arrived(uint32_t warp, uint32_t barrier);  // BAR.ARV
  // The warps of `waiting` pass the barrier, each from its instruction. `whole`: it is the whole CTA's, and counts the
  // warps of `exited`, which have ended, as arrived.
  void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                uint32_t exited);

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
    uint32_t cta = 0, other_cta = 0;
    uint32_t thread = 0, other_thread = 0;
    uint64_t address = 0;  // shared and local: in bytes; global: from the buffer's start
    uint32_t area = 0;     // of global memory, as GlobalShadow::find numbers them; 0: not in global memory
  };
  const std::map<Key, Seen>& seen() const { return seen_; }

 private:
  static constexpr uint32_t kMostWarps = 32;
  static constexpr uint32_t kCopy = 1u << 31;  // in written_: an asynchronous copy's group, not awaited when last seen
  using Clock = std::array<uint32_t, kMostWarps>;

  // The lanes' addresses of one access pattern as stretches of units, from the first active lane's address.
  struct Stretch {
    int32_t from = 0;  // units
    uint32_t units = 0;
  };
  struct Shape {
    std::vector<Stretch> stretches;
    std::array<int32_t, 32> delta{};  // bytes
    uint32_t mask = 0, bytes = 0;
  };
  // One access of a warp, kept until all warps have passed a barrier.
  struct Event {
    uint32_t op = 0, mask = 0, base = 0;  // base: offset in bytes
    uint16_t shape = 0;                   // 0: one lane
    uint8_t warp = 0, bytes = 0;
    bool atomic = false;
  };
  struct Group {
    uint32_t id = 0, done = 0;     // times: of its opening, and when its warp waited for it; 0: not yet
    std::vector<uint32_t> copies;  // by number in copies_
  };

  void load(Warp& warp, const Op& op, uint32_t mask, uint32_t lanes, uint32_t bytes);  // lanes: that give addresses
  void store(Warp& warp, const Op& op, uint32_t mask);
  void before(Warp& warp, const Op& op, uint32_t mask);
  void lane_access(Warp& warp, const Op& op, uint32_t lane, uint32_t address, uint32_t bytes);
  void local(Warp& warp, const Op& op, uint32_t mask);
  void local_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address);
  void shuffle(Warp& warp, const Op& op, uint32_t mask);
  void copies_of(uint32_t warp, const Op& op);
  void global(Warp& warp, const Op& op, uint32_t mask);
  void global_source(Warp& warp, const Op& op, uint32_t mask);  // what LDGSTS reads
  void global_lane(Warp& warp, const Op& op, uint32_t lane, uint64_t address, uint32_t access, uint32_t step);
  bool reads_inputs(Warp& warp, uint32_t registers, uint64_t first, uint32_t mask, uint32_t bytes) const;
  bool conflicts(const GlobalRecord& earlier, const GlobalRecord& now, WatchKind kind, uint64_t byte);
  void advance(uint32_t warp);  // its own time

  uint16_t shape_of(const Machine& machine, const Pattern& pattern, uint32_t bytes);  // 0: there is room for no more
  void settle(const Event& copy, const Group& group);
  bool by_same_lanes(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const;
  bool same_lanes(uint32_t id, uint16_t shape, uint32_t base) const;  // as the event's
  bool readers_same(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const;
  bool read_by_same_lanes(uint32_t warp, uint32_t unit, uint32_t count, uint16_t shape, uint32_t base) const;
  const Pattern& store_pattern(Machine& machine, const Op& op, const int32_t (&delta)[32], uint32_t mask,
                               uint32_t phase);
  void forget_events();
  void forget_noted();
  uint32_t keep_event(const Event& event);                     // its number
  const Event* event(uint32_t id) const;                       // nullptr: forgotten
  uint32_t lanes_at(const Event& event, uint32_t unit) const;  // that touch the unit
  void read_units(const Event& event, uint32_t id, uint32_t lane, uint32_t first, uint32_t count);
  void write_units(const Event& event, uint32_t id, uint32_t lane, uint32_t first, uint32_t count, bool same);
  bool check_writer(const Event& event, uint32_t lane, uint32_t unit, bool writes);
  bool check_readers(const Event& event, uint32_t lane, uint32_t unit);
  uint32_t settled(uint32_t unit);  // written_, with a copy that was awaited since as the write that it became
  void joined(uint32_t warp);       // its clock has changed
  Seen& report(WatchKind kind, uint32_t op, uint32_t other, uint64_t address, uint32_t thread, uint32_t other_thread);
  void report_race(WatchKind kind, const Event& event, uint32_t lane, const Event& earlier, uint32_t lanes,
                   uint32_t unit);
  bool one_atomic(uint32_t op, uint32_t other) const;
  bool stores_the_same(Warp& warp, const Op& op, uint32_t lane, const uint8_t* at, uint32_t bytes) const;
  void handle(Warp& warp, const Op& op, uint32_t mask) const {
    const Unwatched& own = (*unwatched_)[op.index];
    (mask == kFull ? own.full : own.masked)(warp, op, mask);
  }

  const Program* program_ = nullptr;
  const std::vector<Unwatched>* unwatched_ = nullptr;
  enum class Role : uint8_t {
    load,
    store,
    access,
    local,
    copy,
    matrices,
    close_group,
    await_group,
    shuffle,
    warp_sync,
    global,
    fence
  };
  std::vector<Role> roles_;  // by instruction
  uint32_t warps_ = 0, shared_low_ = 0, shared_bytes_ = 0, local_bytes_ = 0, unit_ = 4, cta_ = 0;

  // Times. What is not above base_ is of a CTA before.
  uint32_t time_ = 0, base_ = 0;
  std::vector<Clock> clocks_;
  Clock safe_{};                   // by warp: all that was done until then, by any warp, is ordered before what it does
  std::array<Clock, 16> given_{};  // by arrivals that did not wait
  std::map<uint32_t, Clock> words_;  // that atomics touched
  std::vector<std::vector<Group>> groups_;

  // By unit.
  std::vector<uint32_t> written_, writer_;              // when last, and the event's number
  std::vector<uint32_t> read_;                          // when last, by anyone (note_stretch)
  std::vector<std::vector<uint32_t>> reads_, readers_;  // by warp: when since the last write, and the event's number
  std::vector<Event> events_, copies_;
  uint32_t first_event_ = 1;             // number of events_[0]
  std::vector<Shape> shapes_;            // the first is none
  std::vector<uint16_t> shape_ids_;      // by pattern of the machine; 0: not known yet
  std::vector<uint32_t> local_written_;  // lanes, by warp and byte

  GlobalShadow* shadow_ = nullptr;
  GlobalOrder order_;
  std::vector<bool> strong_;  // by instruction: global accesses that are volatile or atomic
  bool has_fences_ = false;   // without one nothing goes from CTA to CTA
  uint32_t area_ = 0;         // of the access that is looked at
  struct Noted {
    const Pattern* pattern = nullptr;
    uint32_t base = 0, clock = 0;
    bool operator==(const Noted&) const = default;
  };
  std::vector<Noted> noted_;                   // by warp and instruction: the last shared load that raised no doubt
  uint32_t patterns_ = 0;                      // that the machine had then
  std::vector<const Pattern*> copy_patterns_;  // by instruction: the last of a copy's shared side
  std::map<Key, Seen> seen_;
  Seen unheard_;
};

// For people, ordered by kind and instruction.
std::vector<WatchFinding> findings_of(const Program& program, const std::map<Watch::Key, Watch::Seen>& seen,
                                      const std::vector<SharedName>& names, const GlobalShadow& shadow);
// The least width of the program's accesses to shared memory.
uint32_t watch_unit(const Program& program);
uint32_t global_watch_unit(const Program& program);
// In place of a watched instruction's own handler.
void watched(Warp& warp, const Op& op, uint32_t mask);
bool is_watched(const Program& program, const Op& op);

}  // namespace attnscope::emulator
