#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace attnscope::model {

// When a warp may issue next.
struct Turn {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double time = kNever;
  size_t warp = 0;
  bool is_none() const { return time == Turn::kNever; }
  // Without a jump, because no processor could predict it.
  bool operator<(const Turn& other) const { return (time < other.time) | ((time == other.time) & (warp < other.warp)); }
};

// The turns of all warps, ordered by time and then by warp. A warp waits at its scheduler, which gives no warp a turn
// before it is free, so a scheduler that becomes free checks its warps in order. If there are more than a few, those
// after the one that issues are not touched.
template <size_t Schedulers>
class Turns {
 public:
  // Adds a warp without a turn. Warps must be added in ascending order.
  void add(size_t warp, size_t scheduler) {
    Line& line = lines_[scheduler];
    if (places_.size() <= warp) places_.resize(warp + 1);
    places_[warp] = {scheduler, line.times.size()};
    line.warps.push_back(warp);
    line.times.push_back(Turn::kNever);
  }
  // Sets the warp's next turn; `scheduler_free` delays it further.
  void give(size_t warp, double time) {
    const Place place = places_[warp];
    lines_[place.scheduler].times[place.at] = time;
    changed_ |= 1U << place.scheduler;
  }
  void scheduler_free(size_t scheduler, double from) {
    lines_[scheduler].free = from;
    changed_ |= 1U << scheduler;
  }
  bool empty() { return next().is_none(); }
  // Takes the turn of the first warp, which then has none; Turn() if there is none.
  Turn take() {
    const Turn first = next();
    if (!first.is_none()) give(first.warp, Turn::kNever);
    return first;
  }

 private:
  static constexpr size_t kFew = 8;  // warps of a scheduler
  struct Line {
    std::vector<size_t> warps;
    std::vector<double> times;
    double free = 0;
    Turn first;  // valid unless the line has changed
  };
  struct Place {
    size_t scheduler, at;
  };

  // A few warps are compared without a jump, because which one is first depends on data that no processor predicts.
  static void find_first(Line& line) {
    const size_t warps = line.times.size();
    const double free = line.free;
    const double* times = line.times.data();
    size_t first = 0;
    double least = Turn::kNever;
    if (warps <= kFew) {
      for (size_t i = 0; i < warps; ++i) {
        const double time = times[i] > free ? times[i] : free;
        first = time < least ? i : first;
        least = time < least ? time : least;
      }
    } else {
      for (size_t i = 0; i < warps && least > free; ++i)
        if (times[i] < least) least = times[i], first = i;
      least = std::max(least, free);
    }
    line.first = least < Turn::kNever ? Turn{least, line.warps[first]} : Turn{};
  }

  static const Turn& earlier(const Turn& a, const Turn& b) { return a < b ? a : b; }

  // In pairs, which a processor compares in parallel.
  Turn next() {
    for (; changed_ != 0; changed_ &= changed_ - 1) find_first(lines_[static_cast<size_t>(std::countr_zero(changed_))]);
    std::array<Turn, (Schedulers + 1) / 2> firsts;
    for (size_t i = 0; i < Schedulers; i += 2)
      firsts[i / 2] = i + 1 < Schedulers ? earlier(lines_[i].first, lines_[i + 1].first) : lines_[i].first;
    Turn first = firsts.front();
    for (const Turn& other : firsts) first = earlier(first, other);
    return first;
  }

  std::array<Line, Schedulers> lines_;
  unsigned changed_ = 0;       // one bit for each line
  std::vector<Place> places_;  // of the warps
};

}  // namespace attnscope::model
