#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/observation.h"
#include "session/sharing.h"

namespace attnscope::session {

// The machine code and the launch, which `launch_key` names, of a run: two runs with one key share their time. Empty if
// the run's code is not known.
std::string code_key(const Observation& run, const std::string& launch_key);

// The first points of a sweep on a GPU are timed briefly, so that the slow ones among them are not timed to the end
// only because nothing faster was known yet. Afterwards those near the fastest run once more and are timed in full.
// Pure.
class Screening {
 public:
  static constexpr size_t kMost = 32;      // points that are timed briefly before the first one is timed in full
  static constexpr size_t kFewest = 3;     // points for which it is worth while
  static constexpr int64_t kFromMs = 400;  // with a shorter limit for each point's time there is little to save
  // Sent as the time to beat, us. No launch is as fast, so timing stops after its fewest rounds.
  static constexpr double kBriefly = 1e-6;

  Screening() = default;
  explicit Screening(bool on) : on_(on) {}

  bool on() const { return on_; }
  void end() { on_ = false; }
  void count(const Observation& run) { counted_ += is_hopeless(run) ? 1 : 0; }
  bool full() const { return counted_ >= kMost; }
  static bool is_hopeless(const Observation& run);  // its timing stopped early
  static bool is_brief(const Observation& run);     // hopeless, and not wrong: it may run once more

  void keep(size_t point, std::shared_ptr<const Observation> run) { runs_[point] = std::move(run); }
  void forget(size_t point) { runs_.erase(point); }
  // The upper end of the fastest correct one's interval, us.
  std::optional<double> to_beat() const;
  bool has(size_t point) const { return runs_.contains(point); }
  size_t size() const { return runs_.size(); }  // points that are timed briefly only
  // Takes out the runs of which every sample is slower than `limit_us`, unless a run with the same machine code and the
  // same key of its point is not.
  std::vector<std::pair<size_t, std::shared_ptr<const Observation>>> take_slower(double limit_us,
                                                                                 const std::vector<std::string>& keys);

 private:
  bool on_ = false;
  size_t counted_ = 0;                                         // the brief runs, with those that are wrong
  std::map<size_t, std::shared_ptr<const Observation>> runs_;  // by point
};

}  // namespace attnscope::session
