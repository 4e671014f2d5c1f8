#pragma once
#include <string>

#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"

namespace attnscope::cli {

struct BanksAsked {
  int64_t line = 0;  // in the source; 0: none
  int64_t row = 0;   // length of a row in bytes; 0: taken from the lanes
  int64_t step = 0;  // number of a recorded execution, from 1; 0: the first with the most wavefronts
};

// The accesses to shared memory of a line of the kernel's source, lanes by banks and phase by phase: as recorded, with
// 16 bytes of padding after each row, and with a swizzle; then where every buffer is. Failure (Stage::input): the line
// made no access; the message names lines that did.
Result<std::string> banks_text(const Listing& listing, const Kernel& kernel, const BanksAsked& asked);

}  // namespace attnscope::cli
