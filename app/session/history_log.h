#pragma once
#include <cstdint>

#include "session/snapshot.h"

namespace attnscope::session {

// Builds the append-only history. A snapshot's History shares every full chunk; only the last chunk is copied, and only
// when an entry is added to it.
class HistoryLog {
 public:
  static constexpr size_t kChunk = 64;  // entries

  // Adds an entry and returns its id. An entry with the same gesture as the last one replaces it and keeps its id, so
  // that a gesture leaves one entry. Gesture 0 never equals another.
  uint64_t add(HistoryEntry entry, uint64_t gesture);
  const HistoryEntry* find(uint64_t id) const;
  // Replaces `before` by `after`, which says more about the same run, in every entry that shows it.
  void amend(const Shared<Observation>& before, Shared<Observation> after);
  const History& view() const { return history_; }

 private:
  History history_;
  uint64_t last_gesture_ = 0;
};

}  // namespace attnscope::session
