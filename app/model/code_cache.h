#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device_spec.h"
#include "model/machine.h"
#include "model/schedule.h"

namespace attnscope::model {

// The instruction caches of an SM: each scheduler's own one, a near one that the four share, and a far one. What the
// near one does not hold comes from the far one, a line after the other; with each line that a warp comes to, the one
// behind it is fetched too. So only a jump to what is not in the scheduler's own cache waits for that.
class CodeCache {
 public:
  static constexpr size_t kLine = 8;  // instructions of 16 bytes
  static size_t line_of(uint32_t instruction) { return instruction / kLine; }

  // The near and the far one hold what the kernel's first warp left when the kernel ran before.
  CodeCache(const DeviceSpec& spec, const KernelSchedule& schedule);

  // A warp of the scheduler comes from one line to another, as it issues its last instruction at `now` and could issue
  // the next one at `ready`: when that is there. 0: at once.
  double fetch(size_t scheduler, size_t from, size_t line, double now, double ready);

 private:
  // Sets of lines, each with the one used last in front.
  class Level {
   public:
    Level() = default;
    explicit Level(double kilobytes);
    // Whether it held the line; it does from now on.
    bool touch(size_t line);
    size_t lines() const { return lines_.size(); }

   private:
    static constexpr size_t kWays = 8, kNone = SIZE_MAX;
    std::vector<size_t> lines_;  // by set
  };

  void bring(size_t line, double now);

  std::array<Level, kSchedulers> own_;
  Level near_, far_;
  double own_clocks_, line_clocks_, far_line_clocks_;
  double busy_ = 0;            // until the last line that was asked for is there
  std::vector<double> there_;  // by line
  bool all_fits_;              // the whole code, into the near one
};

}  // namespace attnscope::model
