#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace attnscope::emulator {

// Times in the watch of shared memory. They grow by kStep. The bits below kStep hold the warp's number for a warp's own
// times, which are odd. A read of what the same warp wrote since it last synchronised is recorded one below its time,
// so that every other lane that reads it is checked too. Times that belong to no single warp have kManyWarps there.
namespace watch_time {
constexpr uint32_t kStep = 128, kManyWarps = kStep - 1;
constexpr uint32_t kCopy =
    1u << 31;  // in a unit's time: the group of an asynchronous copy that was pending when last checked
constexpr uint32_t own_bits(uint32_t warp) { return warp << 1 | 1; }
constexpr uint32_t warp_of(uint32_t time) { return (time & (kStep - 1)) >> 1; }
constexpr bool is_of(uint32_t time, uint32_t warp) { return warp_of(time) == warp; }
// The last time of the previous step, of any warp.
constexpr uint32_t last_before(uint32_t time) { return (time & ~(kStep - 1)) - 1; }
}  // namespace watch_time

// What orders a CTA's accesses to shared memory. Time is one number for the CTA that grows with every synchronisation.
// Each warp has a vector clock. A CTA or named barrier joins the clocks of the warps that it releases (an arrival
// without waiting only contributes its clock), and an atomic on a shared word joins with all earlier ones on that word.
class SharedOrder {
 public:
  static constexpr uint32_t kMostWarps = 32;
  using Clock = std::array<uint32_t, kMostWarps>;

  void prepare(uint32_t warps);
  bool start();                 // begins the next CTA; true: times start over, and older ones are invalid
  void advance(uint32_t warp);  // advances its own clock
  void arrived(uint32_t warp, uint32_t barrier);
  // The warps of `passing` pass the barrier; those of `exited` count as arrived. One bit per warp. Returns true if
  // together they are all warps of the CTA.
  bool released(uint32_t barrier, uint32_t passing, uint32_t exited);
  void atomic(uint32_t warp, uint32_t word);
  // An arrival at an mbarrier gives the warp's clock, and a wait takes what the phase was given.
  void give(uint32_t warp, Clock& to);
  void take(uint32_t warp, const Clock& from);
  uint32_t open_group();  // a group of copies; returns its number, a time

  uint32_t clock(uint32_t warp) const { return clocks_[warp][warp]; }
  // The time up to which the accesses of `other` are ordered before those of `warp`.
  uint32_t known(uint32_t warp, uint32_t other) const { return clocks_[warp][other]; }
  // The same for the accesses of all warps.
  uint32_t safe(uint32_t warp) const { return safe_[warp]; }
  // The same by warp_of(time).
  const uint32_t* before(uint32_t warp) const { return before_[warp].data(); }
  uint32_t many() const { return time_ | watch_time::kManyWarps; }
  uint32_t base() const { return base_; }  // times up to this belong to earlier CTAs
  uint32_t met() const { return met_; }    // when all warps last passed one barrier, or the CTA's start
  bool ran_out() const { return time_ >= watch_time::kCopy - watch_time::kStep; }  // no times are left

 private:
  void joined(uint32_t warp);  // call when its clock has changed
  void step();

  uint32_t warps_ = 0, time_ = 0, base_ = 0, met_ = 0;
  std::vector<Clock> clocks_;
  Clock safe_{};
  std::vector<std::array<uint32_t, watch_time::kStep / 2>> before_;
  std::array<Clock, 16> given_{};    // clocks of arrivals that did not wait
  std::map<uint32_t, Clock> words_;  // words with atomic accesses
};

}  // namespace attnscope::emulator
