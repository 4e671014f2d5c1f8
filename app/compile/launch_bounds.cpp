#include "compile/launch_bounds.h"

#include <fmt/format.h>

namespace attnscope::compile {

// CUDA's __launch_bounds__ is a macro for this attribute, of (threads), (threads, CTAs) or (threads, CTAs, cluster).
std::string with_launch_bounds(const std::string& source, int ctas) {
  if (ctas == 0) return source;
  return fmt::format(
             "#undef __launch_bounds__\n"
             "#define ATTNSCOPE_BOUNDS_1(threads) __attribute__((launch_bounds(threads, {0})))\n"
             "#define ATTNSCOPE_BOUNDS_2(threads, ctas) __attribute__((launch_bounds(threads, {0})))\n"
             "#define ATTNSCOPE_BOUNDS_3(threads, ctas, cluster) __attribute__((launch_bounds(threads, {0}, "
             "cluster)))\n"
             "#define ATTNSCOPE_BOUNDS_OF(a, b, c, count, ...) ATTNSCOPE_BOUNDS_##count\n"
             "#define __launch_bounds__(...) ATTNSCOPE_BOUNDS_OF(__VA_ARGS__, 3, 2, 1, 0)(__VA_ARGS__)\n"
             "#line 1\n",
             ctas) +
         source;
}

}  // namespace attnscope::compile
