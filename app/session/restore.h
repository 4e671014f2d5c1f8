#pragma once
#include <vector>

#include "session/resolve.h"
#include "session/snapshot.h"
#include "store/results.h"

namespace attnscope::session {

// The runs that earlier sessions kept, as entries of the history, oldest first and without ids. A run that was watched
// later was kept twice, and is one entry. What a gesture was called is not kept: an entry's change is what tells it
// from the run before. `shelf` has the kernels, for the words of their configs.
std::vector<HistoryEntry> restored_history(std::vector<store::StoredObservation> rows, const KernelShelf& shelf);

}  // namespace attnscope::session
