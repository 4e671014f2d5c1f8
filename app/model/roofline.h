#pragma once
#include "core/problem.h"

namespace attnscope::model {

// Bytes that any kernel must move once between DRAM and the SMs: Q, K and V read, O written. With a mask, keys that no
// row sees and rows that see no key are not read. 0 for a problem that is not attention, because only its kernel knows
// its buffers.
double compulsory_bytes(const Problem& problem);

// TFLOP/s of a run of `us` microseconds, by the usual count of operations (Problem::flops). 0 for us ≤ 0.
double tflops(const Problem& problem, double us);

}  // namespace attnscope::model
