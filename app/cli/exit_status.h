#pragma once
#include "core/observation.h"

namespace attnscope::cli {

// The program's exit statuses.
enum ExitStatus : int {
  kCorrectOrUnchecked = 0,  // and the whole result was written
  kWrong = 1,               // ran, but the verdict is wrong or its watch found an error
  kBadInput = 2,            // an option, preset, manifest, value or path is not acceptable
  kRefused = 3,             // does not compile, does not fit, no such device; stdout did not take the result
  kEnded = 4                // hung or crashed and was ended
};

ExitStatus status_of(const Failure& failure);
ExitStatus status_of(const Observation& observation);

// Writes the message and, indented, the hint to stderr; returns status_of(failure).
int report(const Failure& failure);

}  // namespace attnscope::cli
