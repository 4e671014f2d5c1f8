#pragma once
#include "core/observation.h"

namespace attnscope::store {

// A row of the results, with what these tests use to tell rows apart.
inline Observation sample_observation(int64_t warps, double us) {
  Observation o;
  o.experiment.kernel = "tiled";
  o.experiment.config.knobs["NUM_WARPS"] = warps;
  o.hash = hash_of(o.experiment);
  o.device = "emulated:l4";
  o.timing.emplace();
  o.timing->p50 = us;
  return o;
}

}  // namespace attnscope::store
