#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace attnscope::model {

// When a warp may issue next.
struct Turn {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double time = kNever;
  size_t warp = 0;
  bool is_none() const { return time == Turn::kNever; }
};

// The turns of all warps, ordered by time and then by warp. A warp waits at its scheduler, which gives no warp a turn
// before it is free.
template <size_t Schedulers>
class Turns {
 public:
  // Adds a warp without a turn. Warps must be added in ascending order.
  void add(size_t warp, size_t scheduler) {
    Line& line = lines_[scheduler];
    if (places_.size() <= warp) places_.resize(warp + 1);
    if (line.count == line.warps.size()) {
      line.warps.resize(line.count + kGroup);
      line.times.resize(line.count + kGroup, kNever);
    }
    line.warps[line.count] = warp;
    places_[warp] = {scheduler, line.count++};
  }
  // Sets the warp's next turn; `scheduler_free` delays it further.
  void give(size_t warp, double time) {
    const Place place = places_[warp];
    lines_[place.scheduler].times[place.at] = std::bit_cast<Key>(time);
    changed_ |= 1U << place.scheduler;
  }
  void scheduler_free(size_t scheduler, double from) {
    lines_[scheduler].free = std::bit_cast<Key>(from);
    changed_ |= 1U << scheduler;
  }
  // The warp has no turn until it is given one.
  void take(size_t warp) { give(warp, Turn::kNever); }
  bool empty() { return first().is_none(); }
  // The turn of the first warp, which keeps it until it is given another one or it is taken; its time is kNever if
  // there is none.
  Turn first() {
    for (; changed_ != 0; changed_ &= changed_ - 1) {
      const auto line = static_cast<size_t>(std::countr_zero(changed_));
      firsts_[line] = find_first(lines_[line]);
    }
    Key time = kNever;
    for (const First& first : firsts_) time = std::min(time, first.time);
    size_t warp = SIZE_MAX;  // of the turns at that time, the first warp's
    for (const First& first : firsts_) warp = std::min(warp, first.warp | -uint64_t{time < first.time});
    return {std::bit_cast<double>(time), warp};
  }

 private:
  static constexpr size_t kGroup = 8;  // warps that are compared at once
  // A time as an integer: the bits of numbers from 0 on have their order, and a processor compares integers sooner.
  using Key = uint64_t;
  static constexpr Key kNever = std::bit_cast<Key>(Turn::kNever);
  struct Line {
    size_t count = 0;
    // In whole groups; where there is no warp, its turn never comes.
    std::vector<size_t> warps = std::vector<size_t>(kGroup);
    std::vector<Key> times = std::vector<Key>(kGroup, kNever);
    Key free = 0;
  };
  struct First {
    Key time = kNever;
    size_t warp = SIZE_MAX;
  };
  struct Place {
    size_t scheduler, at;
  };

  // Which turn is first depends on data that no processor predicts, so nothing jumps within a group: its earliest time
  // is found, and then which of its warps are later. Only further groups may be skipped.
  static First find_first(const Line& line) {
    First first{kNever, SIZE_MAX};
    for (size_t at = 0; at < line.times.size() && first.time > line.free; at += kGroup) {
      const Key* times = line.times.data() + at;
      std::array<Key, kGroup / 2> pairs;
      for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = std::min(times[2 * i], times[2 * i + 1]);
      const Key time = std::max(std::min(std::min(pairs[0], pairs[1]), std::min(pairs[2], pairs[3])), line.free);
      const auto later = [&](size_t i) { return uint64_t{time < times[i]} + 2 * uint64_t{time < times[i + 1]}; };
      const uint64_t all = (later(0) + 4 * later(2)) + 16 * (later(4) + 4 * later(6));
      if (time < first.time) first = {time, line.warps[at + static_cast<size_t>(std::countr_one(all))]};
    }
    return first;
  }

  std::array<Line, Schedulers> lines_;
  std::array<First, Schedulers> firsts_;  // of the lines; valid for those that have not changed
  unsigned changed_ = 0;                  // one bit for each line
  std::vector<Place> places_;             // of the warps
};

}  // namespace attnscope::model
