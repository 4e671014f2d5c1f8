#pragma once
#include <string>

namespace attnscope::compile {

// nvcc includes the CUDA runtime's headers before the first line of a source, and with them <cmath>, <cstdlib> and what
// those include (std::min, numeric_limits, enable_if; uint). A source that uses some of this gets it before its first
// line, which keeps its number.
std::string with_implied_headers(const std::string& source);

}  // namespace attnscope::compile
