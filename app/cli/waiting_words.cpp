#include "cli/waiting_words.h"

#include <fmt/format.h>

#include <thread>

#include "cli/command.h"
#include "session/listings.h"

namespace attnscope::cli {

void WaitingWords::look(const session::Snapshot& snapshot) {
  if (std::chrono::steady_clock::now() - since_ < kSoon) return;
  said_.resize(snapshot.workers.size());
  for (size_t i = 0; i < snapshot.workers.size(); ++i) {
    const session::WorkerStatus& worker = snapshot.workers[i];
    if (worker.state != session::WorkerState::starting || said_[i] == worker.detail) continue;
    said_[i] = worker.detail;
    print_note(fmt::format("worker {}: {}", worker.name, worker.detail));
  }
}

Observation WaitingWords::wait(session::Session& session, Draft draft, session::Watch watch) {
  auto answer = session.queue(std::move(draft), watch);
  while (answer.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) look(*session.snapshot());
  return answer.get();
}

namespace {

Result<session::Shared<Listing>> wait_for(session::Session& session, const std::string& hash) {
  for (;;) {
    const auto now = session.snapshot();
    if (const auto found = now->listings.find(hash); found != now->listings.end()) return found->second;
    if (const auto refused = now->refused_listings.find(hash); refused != now->refused_listings.end())
      return fail(refused->second);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Result<session::Shared<Listing>> wait_for_code(session::Session& session, const Experiment& experiment,
                                               std::optional<int64_t> step) {
  session.request_code(experiment, step);
  return wait_for(session, session::listing_key(hash_of(experiment), step));
}

Result<session::Shared<Listing>> wait_for_softmax(session::Session& session, const Experiment& experiment,
                                                  const SoftmaxRow& row) {
  session.request_softmax(experiment, row);
  return wait_for(session, session::listing_key(hash_of(experiment), row));
}

Result<session::Shared<Listing>> wait_for_timeline(session::Session& session, const Experiment& experiment,
                                                   const TimelineAsk& ask) {
  session.request_timeline(experiment, ask);
  return wait_for(session, session::listing_key(hash_of(experiment), ask));
}

}  // namespace attnscope::cli
