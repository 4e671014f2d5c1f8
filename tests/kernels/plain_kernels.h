#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/operands.h"

namespace attnscope::kernel_tests {

// What a kernel of tests/kernels/plain must leave in its outputs, computed here in plain C++ on its own terms: buffers
// by name as they were before the run, then what each judged output must hold.
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
