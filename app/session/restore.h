#pragma once
#include <vector>

#include "session/resolve.h"
#include "session/snapshot.h"
#include "store/results.h"

namespace attnscope::session {

// The runs that earlier sessions kept, as entries of the history, oldest first and without ids. A run that was watched
// later was stored twice; it becomes one entry. Gestures are not stored, so an entry's change is its difference from
// the previous run. `shelf` supplies the kernels for the configs' texts.
std::vector<HistoryEntry> restored_history(std::vector<store::StoredObservation> rows, const KernelShelf& shelf);

}  // namespace attnscope::session
