#include "session/screening.h"

#include <algorithm>
#include <limits>
#include <set>

namespace attnscope::session {
namespace {

double fastest_sample(const Timing& timing) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& round : timing.sampling->rounds)
    for (const double us : round) least = std::min(least, us);
  return least;
}

}  // namespace

std::string code_key(const Observation& run, const std::string& launch_key) {
  const bool known = run.variant && !run.variant->code_hash.empty();
  return known ? run.variant->code_hash + "\n" + launch_key : "";
}

bool Screening::is_hopeless(const Observation& run) {
  return run.timing && run.timing->sampling && run.timing->sampling->stopped == Stopped::hopeless;
}

bool Screening::is_brief(const Observation& run) {
  return is_hopeless(run) && run.verdict && run.verdict->state != VerdictState::wrong;
}

std::optional<double> Screening::to_beat() const {
  std::optional<double> least;
  for (const auto& [point, run] : runs_) {
    if (run->verdict->state != VerdictState::correct) continue;
    const double high = run->timing->interval_high;
    least = std::min(least.value_or(high), high);
  }
  return least;
}

std::vector<std::pair<size_t, std::shared_ptr<const Observation>>> Screening::take_slower(
    double limit_us, const std::vector<std::string>& keys) {
  std::set<std::string> near;
  for (const auto& [point, run] : runs_)
    if (fastest_sample(*run->timing) <= limit_us) near.insert(code_key(*run, keys.at(point)));
  near.erase("");
  std::vector<std::pair<size_t, std::shared_ptr<const Observation>>> slower;
  for (auto at = runs_.begin(); at != runs_.end();) {
    if (fastest_sample(*at->second->timing) > limit_us && !near.contains(code_key(*at->second, keys.at(at->first)))) {
      slower.emplace_back(at->first, std::move(at->second));
      at = runs_.erase(at);
    } else {
      ++at;
    }
  }
  return slower;
}

}  // namespace attnscope::session
