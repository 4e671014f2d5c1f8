#include "cli/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

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
  if (observation.verdict && observation.verdict->state == "wrong") return kWrong;
  if (observation.watch && observation.watch->has_errors()) return kWrong;
  return kCorrectOrUnchecked;
}

int report(const Failure& failure) {
  fmt::print(stderr, "attnscope: {}: {}\n", to_string(failure.stage), failure.message);
  if (!failure.hint.empty()) fmt::print(stderr, "  {}\n", failure.hint);
  return status_of(failure);
}

}  // namespace attnscope::cli
