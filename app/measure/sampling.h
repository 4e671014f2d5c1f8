#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/result.h"

namespace attnscope::measure {

// What the GPU reported right after a sample; 0 for values that it did not report.
struct Conditions {
  double clock_mhz = 0;
  double power_w = 0, power_limit_w = 0;
  double temperature_c = 0;
  bool slowed = false;               // thermal or hardware slowdown: the sample says nothing about the kernel
  std::vector<std::string> reasons;  // what limited the clock: "power cap"
};

// What is timed. Tests replace it to run without a GPU.
class Source {
 public:
  virtual ~Source() = default;
  // Places the buffers at new addresses and warms up, so that what differs between runs of the program also differs
  // between rounds.
  virtual Result<void> begin_round() = 0;
  // Takes some repetitions and returns their times, us each; at least one.
  virtual Result<std::vector<double>> take() = 0;
  virtual Conditions conditions() = 0;                                     // of the last take()
  virtual std::optional<double> empty_us() const { return std::nullopt; }  // an empty kernel timed in the same way
};

struct Policy {
  CacheState cache = CacheState::hot;
  double max_ms = 2000;  // stop narrowing the interval after this time
  // Stop as soon as kHopelessRounds rounds have only slower samples. us; 0: never.
  double hopeless_us = 0;
};

struct Events {
  const std::atomic<bool>* cancel = nullptr;  // checked before each take(); when set, the result is Stage::cancelled
  std::function<void(int64_t samples)> on_progress;
  std::function<double()> now_ms;  // a monotonic clock; empty: the machine's
};

// Constants of the rules in docs/measuring.md.
inline constexpr double kStableHalfWidth = 0.005;  // as a share of the median
inline constexpr int64_t kFewestRounds = 10;       // rounds before the interval is trusted
inline constexpr int64_t kHopelessRounds = 2;
inline constexpr double kRoundMs = 15;           // shortest duration of a round
inline constexpr int64_t kFewestOfRound = 3;     // samples in a round; when the time is up, these or kRoundMs end it
inline constexpr double kClockTolerance = 0.03;  // as a share of the run's median clock

// Takes samples until the half-width of the median's 95 % interval is under 0.5 % of the median, the time is up, or the
// run is hopeless. Failures: those of the source; Stage::device if every sample was dropped; Stage::cancelled.
Result<Timing> sample(Source& source, const Policy& policy, const Events& events);

}  // namespace attnscope::measure
