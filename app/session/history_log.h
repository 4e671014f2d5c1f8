#pragma once
#include <cstdint>

#include "session/snapshot.h"

namespace attnscope::session {

// Builds the append-only history. A snapshot's History shares every full chunk; only the last chunk is copied, and only
// when an entry is added to it.
class HistoryLog {
 public:
  static constexpr size_t kChunk = 64;  // entries

  // Adds an entry and gives it the next id. The runs of one gesture are one entry, the last of them: an entry with the
  // last entry's gesture replaces it and keeps its id. Gesture 0 never equals another.
  uint64_t add(HistoryEntry entry, uint64_t gesture);
  const HistoryEntry* find(uint64_t id) const;
  // Every entry that shows `before` shows `after` instead, which says more about the same run.
  void amend(const Shared<Observation>& before, Shared<Observation> after);
  const History& view() const { return history_; }

 private:
  History history_;
  uint64_t last_gesture_ = 0;
};

}  // namespace attnscope::session
