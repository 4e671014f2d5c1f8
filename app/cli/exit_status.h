#pragma once
#include "core/observation.h"
#include "core/scan.h"
#include "sweep/board.h"

namespace attnscope::cli {

// The program's exit statuses.
enum ExitStatus : int {
  kCorrectOrUnchecked = 0,  // and the whole result was written
  kWrong = 1,               // it ran, but the verdict is wrong or its watch found an error
  kBadInput = 2,            // an option, preset, manifest, value or path is not acceptable
  kRefused = 3,             // it does not compile or fit, or there is no such device; or stdout did not take the result
  kEnded = 4                // it hung or crashed and was ended
};

ExitStatus status_of(const Failure& failure);
ExitStatus status_of(const Observation& observation);
// Of a search: the status of the best of its configs, because one that does not run does not fail the search;
// kBadInput if none was tried.
ExitStatus status_of(const sweep::Board& board, const Scan& scan);

// Writes the message and, indented, the hint to stderr. Returns status_of(failure).
int report(const Failure& failure);

// The better of two statuses of searches without a correct config: kBadInput gives way to any other.
ExitStatus better_status(ExitStatus a, ExitStatus b);

}  // namespace attnscope::cli
