#pragma once
#include <string>

namespace attnscope::compile {

// The source with that number of CTAs per SM in each of its __launch_bounds__, replacing one that is there. The
// compiler then gives a thread no more registers than that many CTAs allow. A kernel without __launch_bounds__ is not
// changed. Lines keep their numbers. NVRTC and nvcc compile the result alike. 0 returns the source unchanged.
std::string with_launch_bounds(const std::string& source, int ctas);

// The source with the third number of each __launch_bounds__, the CTAs of a cluster, left out.
std::string without_cluster_bounds(const std::string& source);

}  // namespace attnscope::compile
