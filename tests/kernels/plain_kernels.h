#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/operands.h"

namespace attnscope::kernel_tests {

// The outputs that a kernel of tests/kernels/plain must leave, computed here independently in plain C++: from the
// buffers by name as they were before the run, the contents of each judged output.
using Buffers = std::map<std::string, std::vector<double>>;
using Expected = std::function<Buffers(const Buffers& in, const std::map<std::string, int64_t>& sizes)>;

struct Independent {
  Expected expected;
  double tolerance = 0;  // absolute and relative; 0: equal
};

// By the kernel's file name; those in neither list declare a known reference in their patch.
const std::map<std::string, Independent>& results_of_algorithms();
const std::map<std::string, Independent>& results_of_features();

}  // namespace attnscope::kernel_tests
