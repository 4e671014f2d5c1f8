#include "cli/scan_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/status_line.h"
#include "cli/waiting_words.h"

namespace attnscope::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};

void show_progress(StatusLine& line, const Scan& scan) {
  const auto next = std::ranges::find_if_not(scan.points, &ScanPoint::ended);
  if (next == scan.points.end()) return line.show("");
  const auto done = static_cast<size_t>(next - scan.points.begin());
  line.show(fmt::format("{} of {}: {}={}", done + 1, scan.points.size(), next->knob, next->value.text()),
            {done, scan.points.size()});
}

}  // namespace

session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request,
                                    const std::function<void(const Scan&)>& look,
                                    const std::function<void(const session::Snapshot&)>& watch) {
  const uint64_t id = request.id;
  session::Shared<Scan> seen;
  session.scan(std::move(request));
  for (;; std::this_thread::sleep_for(kBetweenLooks)) {
    const auto snapshot = session.snapshot();
    const auto found = std::ranges::find(snapshot->scans, id, [](const auto& scan) { return scan->id; });
    if (found != snapshot->scans.end() && *found != seen) {
      seen = *found;
      look(*seen);
      if (seen->over()) return seen;
    }
    watch(*snapshot);
  }
}

session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request) {
  StatusLine line;
  WaitingWords waiting;
  return scan_and_wait(
      session, std::move(request), [&](const Scan& scan) { show_progress(line, scan); },
      [&](const session::Snapshot& snapshot) { waiting.look(snapshot); });
}

}  // namespace attnscope::cli
