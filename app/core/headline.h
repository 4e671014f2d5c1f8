#pragma once
#include <optional>
#include <string_view>

#include "core/observation.h"

namespace attnscope {

// What a run came to, in one word: the same word in window, terminal, history, compare tables, and behind the exit
// status. An error of the watch comes before the verdict: a correct output of a racy kernel is luck.
enum class Headline {
  correct,
  wrong,
  unchecked,
  uneven_barrier,  // not every warp of the CTA arrives at it; races are its consequence
  race,            // two accesses of one word, one of them a write, that nothing orders
  never_written,   // a read of what nothing wrote
  absent_lane,     // a shuffle takes from a lane that does not take part
  luck,            // another order of the warps or other contents of shared memory change the verdict
  fault            // an error of the watch by a rule that is not known here
};
std::string_view to_string(Headline headline);

// Of a run with a verdict or a watch; whatever failed after them is told by the failure. Of several errors of the watch
// the one that explains most: first of the order above.
std::optional<Headline> headline_of(const Observation& observation);

// Wrong, or an error of the watch: the output is not to be relied on.
bool is_fault(Headline headline);
// An error of the watch, which the verdict does not know of.
bool is_of_watch(Headline headline);

}  // namespace attnscope
