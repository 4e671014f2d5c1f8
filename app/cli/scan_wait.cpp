#include "cli/scan_wait.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/command.h"
#include "cli/waiting_words.h"

namespace attnscope::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};

std::string progress_text(const Scan& scan) {
  const auto next = std::ranges::find_if_not(scan.points, &ScanPoint::ended);
  if (next == scan.points.end()) return "";
  return fmt::format("{} of {}: {}={}", next - scan.points.begin() + 1, scan.points.size(), next->knob,
                     next->value.text());
}

}  // namespace

session::Shared<Scan> scan_and_wait(session::Session& session, session::ScanRequest request) {
  const uint64_t id = request.id;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  WaitingWords waiting;
  std::string said;
  session.scan(std::move(request));
  for (;; std::this_thread::sleep_for(kBetweenLooks)) {
    const auto snapshot = session.snapshot();
    const auto found = std::ranges::find(snapshot->scans, id, [](const auto& scan) { return scan->id; });
    if (found == snapshot->scans.end()) {
      waiting.look(*snapshot);
      continue;
    }
    const bool over = (*found)->over();
    if (const std::string now = over ? "" : progress_text(**found); terminal && now != said) print_over(said = now);
    if (over) return *found;
    waiting.look(*snapshot);
  }
}

}  // namespace attnscope::cli
