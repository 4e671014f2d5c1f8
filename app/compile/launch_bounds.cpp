#include "compile/launch_bounds.h"

#include <fmt/format.h>

namespace attnscope::compile {

// CUDA's __launch_bounds__ is a macro for this attribute, of (threads), (threads, CTAs) or (threads, CTAs, cluster).
// Functions tell the numbers apart: to a macro the comma of Tile<float, 4>::kThreads would be one between two of them.
// A cluster of 0 CTAs stands for none.
std::string with_launch_bounds(const std::string& source, int ctas) {
  if (ctas == 0) return source;
  return fmt::format(
             "constexpr int attnscope_threads(long long threads, long long = 0, long long = 0) {{ return threads; }}\n"
             "constexpr int attnscope_cluster(long long, long long = 0, long long ctas = 0) {{ return ctas; }}\n"
             "#undef __launch_bounds__\n"
             "#define __launch_bounds__(...) __attribute__((launch_bounds(::attnscope_threads(__VA_ARGS__), {}, "
             "::attnscope_cluster(__VA_ARGS__))))\n"
             "#line 1\n",
             ctas) +
         source;
}

}  // namespace attnscope::compile
