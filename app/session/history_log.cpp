#include "session/history_log.h"

namespace attnscope::session {

uint64_t HistoryLog::add(HistoryEntry entry, uint64_t gesture) {
  const bool replaces = gesture != 0 && gesture == last_gesture_ && history_.size > 0;
  last_gesture_ = gesture;
  auto tail = std::make_shared<HistoryChunk>();
  const bool grows_tail = !history_.chunks.empty() && (replaces || history_.chunks.back()->entries.size() < kChunk);
  if (grows_tail) {
    *tail = *history_.chunks.back();
    history_.chunks.pop_back();
  }
  tail->entries.reserve(kChunk);
  if (replaces) {
    entry.id = tail->entries.back().id;
    tail->entries.back() = std::move(entry);
  } else {
    entry.id = ++history_.size;
    tail->entries.push_back(std::move(entry));
  }
  const uint64_t id = tail->entries.back().id;
  history_.chunks.push_back(std::move(tail));
  return id;
}

const HistoryEntry* HistoryLog::find(uint64_t id) const {
  if (id == 0 || id > history_.size) return nullptr;
  return &history_.at(id - 1);  // ids count from 1 in order
}

}  // namespace attnscope::session
