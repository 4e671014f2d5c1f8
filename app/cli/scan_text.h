#pragma once
#include <string>

#include "core/json_fwd.h"
#include "core/kernel.h"
#include "core/scan.h"

namespace attnscope::cli {

// A table for each knob: every value with its time, its verdict, and why it is refused.
std::string text_of(const Scan& scan, const Kernel& kernel);
// See docs/explaining.md.
Json to_json(const Scan& scan);

}  // namespace attnscope::cli
