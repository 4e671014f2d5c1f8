#include "sweep/wait.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace attnscope::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::seconds kToEnd{2};  // for a session that may have ended

}  // namespace

session::Shared<Scan> wait_for_scan(session::Session& session, uint64_t id, const ScanWait& wait) {
  session::Shared<Scan> seen;
  std::optional<Clock::time_point> ends;  // for an interrupted scan
  for (;; std::this_thread::sleep_for(kBetweenLooks)) {
    const auto snapshot = session.snapshot();
    const auto found = std::ranges::find(snapshot->scans, id, [](const auto& scan) { return scan->id; });
    if (found != snapshot->scans.end() && *found != seen) {
      seen = *found;
      wait.look(seen);
      if (seen->over()) return seen;
    }
    if (wait.watch) wait.watch(*snapshot);
    if (ends && Clock::now() > *ends) return seen;
    if (!ends && wait.interrupted && wait.interrupted()) {
      session.end_scan(id);
      ends = Clock::now() + kToEnd;
    }
  }
}

session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request, const ScanWait& wait) {
  const uint64_t id = request.id;
  session.scan(std::move(request));
  return wait_for_scan(session, id, wait);
}

}  // namespace attnscope::sweep
