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

std::string without_cluster_bounds(const std::string& source) {
  return "constexpr int attnscope_threads(long long threads, long long = 0, long long = 0) { return threads; }\n"
         "constexpr int attnscope_ctas(long long, long long ctas, long long = 0) { return ctas; }\n"
         "#undef __launch_bounds__\n"
         "#define attnscope_bounds_1(threads) __attribute__((launch_bounds(threads)))\n"
         "#define attnscope_bounds_more(...) \\\n"
         "  __attribute__((launch_bounds(::attnscope_threads(__VA_ARGS__), ::attnscope_ctas(__VA_ARGS__))))\n"
         "#define attnscope_bounds(a, b, c, name, ...) name\n"
         "#define __launch_bounds__(...) \\\n"
         "  attnscope_bounds(__VA_ARGS__, attnscope_bounds_more, attnscope_bounds_more, attnscope_bounds_1, "
         "0)(__VA_ARGS__)\n"
         "#line 1\n" +
         source;
}

}  // namespace attnscope::compile
