#include "core/scan.h"

#include <algorithm>

namespace attnscope {

bool Scan::over() const { return failure || ended_early || std::ranges::all_of(points, &ScanPoint::ended); }

const Observation* Scan::timed(size_t point) const {
  const ScanPoint& one = points.at(point);
  return (one.same_as ? points.at(*one.same_as) : one).observation.get();
}

bool Scan::holds(const std::string& knob, const Draft& draft) const {
  Draft other = draft;
  const auto own = held.config.knobs.find(knob);
  if (own != held.config.knobs.end()) other.config.knobs[knob] = own->second;
  return other == static_cast<const Draft&>(held);
}

bool Scan::holds(const Draft& draft) const {
  return std::ranges::any_of(points, [&](const ScanPoint& point) { return holds(point.knob, draft); });
}

}  // namespace attnscope
