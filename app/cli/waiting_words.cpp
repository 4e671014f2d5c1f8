#include "cli/waiting_words.h"

#include <cstdio>

namespace attnscope::cli {

void WaitingWords::look(const session::Snapshot& snapshot) {
  if (std::chrono::steady_clock::now() - since_ < kSoon) return;
  said_.resize(snapshot.workers.size());
  for (size_t i = 0; i < snapshot.workers.size(); ++i) {
    const session::WorkerStatus& worker = snapshot.workers[i];
    if (worker.state != session::WorkerState::starting || said_[i] == worker.detail) continue;
    said_[i] = worker.detail;
    std::fprintf(stderr, "worker %s: %s\n", worker.name.c_str(), worker.detail.c_str());
  }
}

}  // namespace attnscope::cli
