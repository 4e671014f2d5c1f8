#include "cli/scan_wait.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/status_line.h"
#include "cli/waiting_words.h"
#include "sweep/wait.h"

namespace attnscope::cli {
namespace {

void show_progress(StatusLine& line, const Scan& scan) {
  const auto next = std::ranges::find_if_not(scan.points, &ScanPoint::ended);
  if (next == scan.points.end()) return line.show("");
  const auto done = static_cast<size_t>(next - scan.points.begin());
  line.show(fmt::format("{} of {}: {}={}", done + 1, scan.points.size(), next->knob, next->value.text()),
            {done, scan.points.size()});
}

}  // namespace

session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request) {
  StatusLine line;
  WaitingWords waiting;
  sweep::ScanWait wait;
  wait.look = [&](const session::Shared<Scan>& scan) { show_progress(line, *scan); };
  wait.watch = [&](const session::Snapshot& snapshot) { waiting.look(snapshot); };
  return sweep::scan_and_wait(session, std::move(request), wait);
}

}  // namespace attnscope::cli
