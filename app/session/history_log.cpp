#include "session/history_log.h"

#include <algorithm>

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

void HistoryLog::amend(const Shared<Observation>& before, Shared<Observation> after) {
  for (auto& chunk : history_.chunks) {
    auto shows = [&](const HistoryEntry& entry) { return entry.observation == before; };
    if (std::none_of(chunk->entries.begin(), chunk->entries.end(), shows)) continue;
    auto amended = std::make_shared<HistoryChunk>(*chunk);
    for (HistoryEntry& entry : amended->entries)
      if (shows(entry)) entry.observation = after;
    chunk = std::move(amended);
  }
}

const HistoryEntry* HistoryLog::find(uint64_t id) const {
  if (id == 0 || id > history_.size) return nullptr;
  return &history_.at(id - 1);  // ids count from 1 in order
}

}  // namespace attnscope::session
