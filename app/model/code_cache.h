#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device_spec.h"
#include "model/machine.h"
#include "model/schedule.h"

namespace attnscope::model {

// The instruction caches of an SM: each scheduler's own, a near one that the four share, and a far one. Code that the
// near cache lacks comes from the far one, one line after the other; for each line that a warp reaches, the next line
// is fetched too. So only a jump to code that the scheduler's own cache lacks waits for that cache.
class CodeCache {
 public:
  static constexpr size_t kLine = 8;  // instructions of 16 bytes
  static size_t line_of(uint32_t instruction) { return instruction / kLine; }

  // The near and the far cache start with what the kernel's first warp left when the kernel ran before.
  CodeCache(const DeviceSpec& spec, const KernelSchedule& schedule);

  // A warp of the scheduler goes from one line to another: it issues its last instruction at `now` and could issue the
  // next at `ready`. Returns when the next line's code is available; 0: at once.
  double fetch(size_t scheduler, size_t from, size_t line, double now, double ready);

 private:
  // Sets of lines, the most recently used first.
  class Level {
   public:
    Level() = default;
    explicit Level(double kilobytes);
    // Returns whether it held the line, and stores it.
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
  double busy_ = 0;            // until the last requested line arrives
  std::vector<double> there_;  // by line
  bool all_fits_;              // the whole code fits into the near cache
};

}  // namespace attnscope::model
