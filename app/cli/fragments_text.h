#pragma once
#include <cstdint>
#include <string>

#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"

namespace attnscope::cli {

// Which lane holds which element in which register, for the products, LDSM and MOVM of a line of the kernel's source:
// one picture for each layout, and the elements of `lane` (0…31). Failure (Stage::input): the line has none; the
// message names lines that have.
Result<std::string> fragments_text(const Listing& listing, const Kernel& kernel, int64_t line, uint32_t lane);

}  // namespace attnscope::cli
