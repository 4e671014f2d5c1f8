#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "model/simulation.h"

namespace attnscope::model {
namespace {

// CTAs for each place that tell how long the others take; and those that, at the limit, tell more than a rate.
constexpr size_t kEnough = 6, kFew = 4;
constexpr int64_t kTimesTheLimit = 2;  // a simulation of less than that goes on to the limit
constexpr size_t kLeft = 3;            // CTAs for each place that are more than those that end beside empty places
// An SM with that many times the instructions that are simulated, and that many CTAs for each place among these.
constexpr int64_t kManyTimes = 16;
constexpr size_t kManyCtas = 8;
constexpr size_t kLongestStride = 8;
constexpr double kMixed = 0.1;  // the share of CTAs that would have to be of another length

// Every `stride`-th, then every `stride`-th from the second on, and so on.
SmCtas strided(const SmCtas& ctas, size_t stride) {
  SmCtas out;
  out.reserve(ctas.size());
  for (size_t first = 0; first < stride; ++first)
    for (size_t i = first; i < ctas.size(); i += stride) out.push_back(ctas[i]);
  return out;
}

// The share of each trace in these CTAs.
std::vector<double> shares(std::span<const uint32_t> ctas, size_t traces) {
  std::vector<double> out(traces);
  for (const uint32_t trace : ctas) out[trace] += 1 / double(ctas.size());
  return out;
}

}  // namespace

// CTAs under a mask become longer from the first row of a head to its last, and an SM may get so many of one head that
// those which are simulated lack the longest.
void Simulation::mix_ctas() {
  const int64_t limit = std::min(load_.enough_steps, load_.step_limit);
  int64_t all = 0;
  for (const uint32_t trace : ctas_) all += work_of_[trace].instructions;
  if (all < kManyTimes * limit) return;
  const std::vector<double> wanted = shares(ctas_, work_of_.size());
  SmCtas best;
  double least = 2;
  for (size_t stride = 1; stride <= kLongestStride && least > kMixed; ++stride) {
    SmCtas order = strided(ctas_, stride);
    size_t simulated = 0;
    for (int64_t left = limit; left > 0; ++simulated) left -= work_of_[order[simulated]].instructions;
    if (simulated < kManyCtas * slots_.size()) return;
    const std::vector<double> have =
        shares(std::span(order).first(simulated).last(simulated / 2), work_of_.size());  // as left_by_ctas() reads them
    const double differ = std::transform_reduce(have.begin(), have.end(), wanted.begin(), 0.0, std::plus<>(),
                                                [](double a, double b) { return std::abs(a - b) / 2; });
    if (differ < least) least = differ, best = std::move(order);
  }
  ctas_ = std::move(best);
}

bool Simulation::tell(size_t of_place) const {
  size_t ended = 0;
  for (const CtaSlot& place : slots_) ended += place.whole.size();
  return ended >= of_place * slots_.size() && ctas_.size() - started_ >= kLeft * slots_.size();
}

bool Simulation::is_short() const {
  auto left = double(left_to_issue());
  if (equal_ && waves_.length > 0) {  // by then all but a few waves have passed at once
    const int64_t ctas = std::max<int64_t>(0, int64_t(kWavesUntilPassed * slots_.size()) - int64_t(started_));
    left = std::min(left, double(of_started_ - result_.steps + ctas * work_of_[ctas_.front()].instructions));
  }
  return double(result_.steps) * (1 + left / double(executed())) <= double(kTimesTheLimit * load_.step_limit);
}

bool Simulation::is_enough() const { return load_.repeat && tell(kEnough) && !is_short(); }

int64_t Simulation::left_to_issue() const {
  int64_t left = of_started_ - result_.steps;
  for (size_t j = started_; j < ctas_.size(); ++j) left += work_of_[ctas_[j]].instructions;
  return left;
}

// The first CTAs begin together and hinder each other more than later ones, so only the second half of each place's
// CTAs counts. Each CTA holds its place as long as these did on average, those of its trace if there are any; the
// places share out what is left.
double Simulation::left_by_ctas() const {
  struct Sum {
    double clocks = 0, number = 0;
  };
  std::vector<Sum> of_trace(work_of_.size());
  Sum all;  // `number` of instructions
  for (const CtaSlot& place : slots_)
    for (size_t i = place.whole.size() / 2; i < place.whole.size(); ++i) {
      const auto [trace, clocks] = place.whole[i];
      of_trace[trace].clocks += clocks, ++of_trace[trace].number;
      all.clocks += clocks, all.number += double(work_of_[trace].instructions);
    }
  const auto holds = [&](size_t trace) {
    const Sum& own = of_trace[trace];
    return own.number > 0 ? own.clocks / own.number : all.clocks / all.number * double(work_of_[trace].instructions);
  };
  double clocks = 0;
  for (const CtaSlot& place : slots_)
    if (place.alive > 0) clocks += std::max(0.0, place.began + holds(place.trace) - cta_clock(clock_));
  for (size_t j = started_; j < ctas_.size(); ++j) clocks += holds(ctas_[j]);
  return clocks / double(slots_.size());
}

void Simulation::extrapolate() {
  result_.complete = false;
  result_.simulated = clock_;
  const double now = clock_ + skipped_;
  const double share = double(executed()) / double(executed() + left_to_issue());
  result_.by_rate = !tell(kFew);
  result_.clocks = result_.by_rate ? now / share : now + left_by_ctas();
}

}  // namespace attnscope::model
