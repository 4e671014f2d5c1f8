#pragma once
#include <vector>

#include "session/resolve.h"
#include "session/snapshot.h"
#include "store/results.h"

namespace attnscope::session {

// The runs that earlier sessions kept, as entries of the history, oldest first and without ids. A run that was watched
// later was kept twice; it becomes one entry. The names of gestures are not kept: an entry's change is its difference
// from the previous run. `shelf` has the kernels, for the texts of their configs.
std::vector<HistoryEntry> restored_history(std::vector<store::StoredObservation> rows, const KernelShelf& shelf);

}  // namespace attnscope::session
