#include "measure/sampling.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"
#include "platform/clock.h"

namespace attnscope::measure {
namespace {

constexpr size_t kMostKept = 1000;  // samples kept in an observation

// The result of one take().
struct Batch {
  size_t round = 0;
  std::vector<double> us;
  double clock_mhz = 0;
  bool slowed = false;
};

class Sampler {
 public:
  Sampler(Source& source, const Policy& policy, const Events& events)
      : source_(source), policy_(policy), events_(events) {}

  Result<Timing> run() {
    started_ = now();
    while (true) {
      if (auto done = take_round(); !done) return fail(done.error());
      keep_good();
      if (stable()) return timing(Stopped::stable);
      if (hopeless()) return timing(Stopped::hopeless);
      if (late()) return timing(Stopped::time_up);
    }
  }

 private:
  double now() const { return events_.now_ms ? events_.now_ms() : platform::steady_ms(); }
  Result<void> take_round();
  void note(const Conditions& conditions);
  void keep_good();
  bool stable() const;
  bool hopeless() const;
  bool late() const { return now() - started_ >= policy_.max_ms; }
  Result<Timing> timing(Stopped stopped) const;

  Source& source_;
  const Policy& policy_;
  const Events& events_;
  double started_ = 0;
  int64_t taken_ = 0;
  std::vector<Batch> batches_;
  size_t round_ = 0;
  Rounds good_;
  int64_t dropped_ = 0;
  double clock_mhz_ = 0;
  Interval interval_;
  double median_ = 0;
  Sampling sampling_;
};

Result<void> Sampler::take_round() {
  if (auto ready = source_.begin_round(); !ready) return ready;
  const double begun = now();
  for (int64_t of_round = 0;;) {
    if (events_.cancel && *events_.cancel) return fail(Stage::cancelled, "cancelled");
    auto us = source_.take();
    if (!us) return fail(us.error());
    const Conditions conditions = source_.conditions();
    note(conditions);
    of_round += static_cast<int64_t>(us->size());
    taken_ += static_cast<int64_t>(us->size());
    batches_.push_back({round_, std::move(*us), conditions.clock_mhz, conditions.slowed});
    if (events_.on_progress) events_.on_progress(taken_);
    const bool enough_samples = of_round >= kFewestOfRound, long_enough = now() - begun >= kRoundMs;
    if (enough_samples && long_enough) break;
    // Placing buffers may have used up all the time. Then the last round ends when it has enough samples or its full
    // length.
    if ((enough_samples || long_enough) && late()) break;
  }
  ++round_;
  return {};
}

void Sampler::note(const Conditions& conditions) {
  sampling_.power_w = std::max(sampling_.power_w, conditions.power_w);
  sampling_.power_limit_w = std::max(sampling_.power_limit_w, conditions.power_limit_w);
  sampling_.temperature_c = std::max(sampling_.temperature_c, conditions.temperature_c);
  for (const std::string& reason : conditions.reasons)
    if (std::find(sampling_.reasons.begin(), sampling_.reasons.end(), reason) == sampling_.reasons.end())
      sampling_.reasons.push_back(reason);
}

// Drops samples that were slowed down or ran at another clock than the rest. A power cap is normal for a GPU and drops
// none.
void Sampler::keep_good() {
  std::vector<double> clocks;
  for (const Batch& batch : batches_)
    if (batch.clock_mhz > 0 && !batch.slowed) clocks.push_back(batch.clock_mhz);
  clock_mhz_ = median(clocks);
  good_.assign(round_, {});
  dropped_ = 0;
  for (const Batch& batch : batches_) {
    const bool off =
        batch.clock_mhz > 0 && clock_mhz_ > 0 && std::abs(batch.clock_mhz - clock_mhz_) > kClockTolerance * clock_mhz_;
    if (batch.slowed || off)
      dropped_ += static_cast<int64_t>(batch.us.size());
    else
      good_[batch.round].insert(good_[batch.round].end(), batch.us.begin(), batch.us.end());
  }
  std::erase_if(good_, [](const auto& round) { return round.empty(); });
  median_ = quantile(pooled(good_), 0.5);
  interval_ = at_least(bootstrap_median(good_), median_, kBetweenRuns * median_);
}

bool Sampler::stable() const {
  return static_cast<int64_t>(good_.size()) >= kFewestRounds && interval_.half_width() < kStableHalfWidth * median_;
}

bool Sampler::hopeless() const {
  if (policy_.hopeless_us <= 0 || static_cast<int64_t>(good_.size()) < kHopelessRounds) return false;
  return pooled(good_).front() > policy_.hopeless_us;
}

// The samples that an observation keeps, rounded to a tenth of a nanosecond.
Rounds kept(const Rounds& rounds) {
  Rounds out = thinned(rounds, kMostKept);
  for (auto& round : out)
    for (double& us : round) us = std::round(us * 1e4) / 1e4;
  return out;
}

Result<Timing> Sampler::timing(Stopped stopped) const {
  const std::vector<double> all = pooled(good_);
  if (all.empty())
    return fail(
        Stage::device,
        "the GPU was slowed down by heat or its hardware through all of " + std::to_string(dropped_) + " samples",
        "Let it cool, and see `nvidia-smi -q -d PERFORMANCE` for the reason.");
  Timing timing;
  timing.kind = FigureKind::measured;
  timing.p10 = quantile(all, 0.1);
  timing.p50 = quantile(all, 0.5);
  timing.p90 = quantile(all, 0.9);
  timing.interval_low = interval_.low;
  timing.interval_high = interval_.high;
  timing.samples = static_cast<int64_t>(all.size());
  timing.cache = policy_.cache;
  timing.clock_mhz = clock_mhz_;
  timing.sampling = sampling_;
  timing.sampling->rounds = kept(good_);
  timing.sampling->dropped = dropped_;
  timing.sampling->empty_us = source_.empty_us();
  timing.sampling->stopped = stopped;
  return timing;
}

}  // namespace

Result<Timing> sample(Source& source, const Policy& policy, const Events& events) {
  return Sampler(source, policy, events).run();
}

}  // namespace attnscope::measure
