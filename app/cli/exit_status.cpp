#include "cli/exit_status.h"

#include <algorithm>

#include "cli/command.h"
#include "core/headline.h"

namespace attnscope::cli {

ExitStatus status_of(const Failure& failure) {
  switch (failure.stage) {
    case Stage::input:
    case Stage::catalog:
    case Stage::store:
      return kBadInput;
    case Stage::compile:
    case Stage::limits:
    case Stage::device:
    case Stage::decode:
    case Stage::check:
      return kRefused;
    case Stage::launch:
    case Stage::deadline:
    case Stage::crash:
    case Stage::cancelled:
    case Stage::protocol:
    case Stage::internal:
      return kEnded;
  }
  return kEnded;
}

ExitStatus status_of(const Observation& observation) {
  if (observation.failure) return status_of(*observation.failure);
  const auto headline = headline_of(observation);
  return headline && is_fault(*headline) ? kWrong : kCorrectOrUnchecked;
}

ExitStatus status_of(const sweep::Board& board, const Scan& scan) {
  if (!board.rows.empty()) return kCorrectOrUnchecked;
  if (scan.points.empty()) return kBadInput;
  ExitStatus least = kEnded;
  for (size_t at = 0; at < scan.points.size(); ++at) {
    const Observation* run = scan.timed(at);
    least = std::min(least, run != nullptr ? status_of(*run) : kRefused);
  }
  return std::max(least, kWrong);
}

int report(const Failure& failure) {
  print_failure(failure);
  return status_of(failure);
}

ExitStatus better_status(ExitStatus a, ExitStatus b) {
  if (a == kBadInput || b == kBadInput) return a == kBadInput ? b : a;
  return std::min(a, b);
}

}  // namespace attnscope::cli
