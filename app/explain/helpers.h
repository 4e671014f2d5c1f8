#pragma once
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/source_lines.h"
#include "explain/next.h"

namespace attnscope::explain {

// A __device__ function that nothing calls.
struct UnusedHelper {
  std::string name;
  SourcePlace place;
  bool permutes = false;    // it has an XOR, as a swizzle has
  bool multiplies = false;  // it has products of Tensor Cores
  // True if calling it would bring what removes a cause.
  bool brings(Wants wants) const { return wants == Wants::layout ? permutes : wants == Wants::tensor && multiplies; }
};

// In the order of the source, those of the kernel's own file before those of headers. None for machine code.
std::vector<UnusedHelper> unused_helpers(const Kernel& kernel);

}  // namespace attnscope::explain
