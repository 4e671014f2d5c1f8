#pragma once
#include <string>

#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"

namespace attnscope::cli {

struct BanksAsked {
  int64_t line = 0;  // of the source; 0: none
  int64_t row = 0;   // bytes of a row; 0: as the lanes tell
  int64_t step = 0;  // of the recorded executions, from 1; 0: the first that takes most wavefronts
};

// The accesses to shared memory of a line of the kernel's source, lanes by banks and phase by phase: as recorded, with
// 16 bytes of padding behind each row, and with a swizzle; then where every buffer lies. Failure (Stage::input): the
// line made no access; the message names lines that did.
Result<std::string> banks_text(const Listing& listing, const Kernel& kernel, const BanksAsked& asked);

}  // namespace attnscope::cli
