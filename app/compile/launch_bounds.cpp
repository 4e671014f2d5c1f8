#include "compile/launch_bounds.h"

#include <fmt/format.h>

namespace attnscope::compile {

// CUDA's __launch_bounds__ is a macro for this attribute, with (threads), (threads, CTAs) or (threads, CTAs, cluster).
// Functions tell the numbers apart, because a macro would split Tile<float, 4>::kThreads at its comma. A cluster's CTAs
// are left out: the compiler refuses that number, even 0, below sm_90, and it only limits a launch.
std::string with_launch_bounds(const std::string& source, int ctas) {
  if (ctas == 0) return source;
  return fmt::format(
             "constexpr int attnscope_threads(long long threads, long long = 0, long long = 0) {{ return threads; }}\n"
             "#undef __launch_bounds__\n"
             "#define __launch_bounds__(...) __attribute__((launch_bounds(::attnscope_threads(__VA_ARGS__), {})))\n"
             "#line 1\n",
             ctas) +
         source;
}

}  // namespace attnscope::compile
