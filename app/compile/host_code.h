#pragma once
#include <string>
#include <string_view>

namespace attnscope::compile {

// NVRTC takes device code alone; a .cu written for nvcc has its host side in the same file. What only a host compiler
// could take (host functions, main, <<<>>> launches, variables and classes of host libraries) is blanked: every
// character but the line ends becomes a space, so that every line and column that is left stays where it was.
// Kernels, __device__ and constexpr functions, types, constants, templates and preprocessor lines stay. A source that
// has nothing of the kind, or whose braces cannot be followed, is returned as it is.
std::string without_host_code(std::string_view source);

// nvcc includes the CUDA runtime's headers before a source's first line, and with them <cmath>, <cstdlib> and what
// these bring (std::min, numeric_limits, enable_if; uint). A source that uses some of it gets them before its first
// line, which keeps its number.
std::string with_implied_headers(const std::string& source);

}  // namespace attnscope::compile
