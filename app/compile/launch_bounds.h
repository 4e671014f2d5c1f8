#pragma once
#include <string>

namespace attnscope::compile {

// The source with that number of CTAs an SM in each of its __launch_bounds__, in place of one that stands there: the
// compiler then gives a thread no more registers than so many CTAs leave it. A kernel without __launch_bounds__ stays
// as it is. Lines keep their numbers. NVRTC and nvcc compile the result alike. 0: the source itself.
std::string with_launch_bounds(const std::string& source, int ctas);

}  // namespace attnscope::compile
