#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace attnscope::model {

// When a warp may issue next.
struct Turn {
  double time;
  size_t warp;
  bool operator<(const Turn& other) const { return time != other.time ? time < other.time : warp < other.warp; }
};

// The turns of all warps, in order of time, and of those at the same time in order of warps. A warp waits at its
// scheduler, which gives no warp a turn before it is free: so a scheduler that is free again looks at its warps in
// order, and those behind the one that issues are not touched.
template <size_t Schedulers>
class Turns {
 public:
  // A warp without a turn. Warps come in ascending order.
  void add(size_t warp, size_t scheduler) {
    Line& line = lines_[scheduler];
    if (places_.size() <= warp) places_.resize(warp + 1);
    places_[warp] = {scheduler, line.times.size()};
    line.warps.push_back(warp);
    line.times.push_back(kNever);
  }
  // The warp's next turn; `scheduler_free` keeps it waiting longer.
  void give(size_t warp, double time) {
    Line& line = lines_[places_[warp].scheduler];
    line.times[places_[warp].at] = time;
    line.known = false;
  }
  void scheduler_free(size_t scheduler, double from) {
    lines_[scheduler].free = from;
    lines_[scheduler].known = false;
  }
  bool empty() { return next().time == kNever; }
  // Of the first warp, which has no turn from then on. Not when empty.
  Turn take() {
    const Turn first = next();
    give(first.warp, kNever);
    return first;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Line {
    std::vector<size_t> warps;
    std::vector<double> times;
    double free = 0;
    bool known = true;  // `first`
    Turn first{kNever, 0};
  };
  struct Place {
    size_t scheduler, at;
  };

  static void find_first(Line& line) {
    size_t first = 0;
    double least = kNever;
    for (size_t i = 0; i < line.times.size() && least > line.free; ++i)
      if (line.times[i] < least) least = line.times[i], first = i;
    line.first = least == kNever ? Turn{kNever, 0} : Turn{least > line.free ? least : line.free, line.warps[first]};
    line.known = true;
  }

  Turn next() {
    Turn first{kNever, 0};
    for (Line& line : lines_) {
      if (!line.known) find_first(line);
      if (line.first < first) first = line.first;
    }
    return first;
  }

  std::array<Line, Schedulers> lines_;
  std::vector<Place> places_;  // of the warps
};

}  // namespace attnscope::model
