#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace attnscope::emulator {

// Times of the watch of shared memory. They grow by kStep; below that a warp's own times say which warp it is, and are
// odd: a read of what the same warp wrote since it last synchronised is noted one below its time, so that every other
// lane that reads it is looked at too. Times of no one warp have kManyWarps there.
namespace watch_time {
constexpr uint32_t kStep = 128, kManyWarps = kStep - 1;
constexpr uint32_t kCopy = 1u << 31;  // in a unit's time: an asynchronous copy's group, not awaited when last seen
constexpr uint32_t own_bits(uint32_t warp) { return warp << 1 | 1; }
constexpr uint32_t warp_of(uint32_t time) { return (time & (kStep - 1)) >> 1; }
constexpr bool is_of(uint32_t time, uint32_t warp) { return warp_of(time) == warp; }
// The last of earlier steps, anyone's.
constexpr uint32_t last_before(uint32_t time) { return (time & ~(kStep - 1)) - 1; }
}  // namespace watch_time

// What orders a CTA's accesses to shared memory. Time is one number for the CTA that grows with every synchronisation.
// Each warp has a vector clock of it: a CTA or named barrier joins the clocks of the warps that it releases (an arrival
// without waiting only gives), and an atomic on a shared word joins with all before it on that word.
class SharedOrder {
 public:
  static constexpr uint32_t kMostWarps = 32;

  void prepare(uint32_t warps);
  bool start();                 // another CTA; true: times start over, and older ones mean nothing
  void advance(uint32_t warp);  // its own time
  void arrived(uint32_t warp, uint32_t barrier);
  // The warps of `passing` pass the barrier; those of `exited` are counted as arrived. Bits. Whether they are all that
  // the CTA has.
  bool released(uint32_t barrier, uint32_t passing, uint32_t exited);
  void atomic(uint32_t warp, uint32_t word);
  uint32_t open_group();  // of copies: its number, a time

  uint32_t clock(uint32_t warp) const { return clocks_[warp][warp]; }
  // Of `other`: what it did until then is ordered before what `warp` does.
  uint32_t known(uint32_t warp, uint32_t other) const { return clocks_[warp][other]; }
  // Of all warps: what any of them did until then.
  uint32_t safe(uint32_t warp) const { return safe_[warp]; }
  // By warp_of(time): up to which time it is ordered before what `warp` does now.
  const uint32_t* before(uint32_t warp) const { return before_[warp].data(); }
  uint32_t many() const { return time_ | watch_time::kManyWarps; }
  uint32_t base() const { return base_; }  // what is not above it is of a CTA before
  uint32_t met() const { return met_; }    // when all warps last passed one barrier; else the CTA's start
  bool ran_out() const { return time_ >= watch_time::kCopy - watch_time::kStep; }  // of times

 private:
  using Clock = std::array<uint32_t, kMostWarps>;
  void joined(uint32_t warp);  // its clock has changed
  void step();

  uint32_t warps_ = 0, time_ = 0, base_ = 0, met_ = 0;
  std::vector<Clock> clocks_;
  Clock safe_{};
  std::vector<std::array<uint32_t, watch_time::kStep / 2>> before_;
  std::array<Clock, 16> given_{};    // by arrivals that did not wait
  std::map<uint32_t, Clock> words_;  // that atomics touched
};

}  // namespace attnscope::emulator
