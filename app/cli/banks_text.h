#pragma once
#include <string>

#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"

namespace attnscope::cli {

// The accesses to shared memory of a line of the kernel's source, lanes by banks: as recorded, with 16 bytes of padding
// behind each row, and with a swizzle. `row`: bytes of a row; 0: as the lanes tell. Failure (Stage::input): the line
// made no access; the message names lines that did.
Result<std::string> banks_text(const Listing& listing, const Kernel& kernel, int64_t line, int64_t row);

}  // namespace attnscope::cli
