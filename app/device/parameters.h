#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compile/cubin.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::device {

// Device addresses of an attention problem's tensors.
struct TensorAddresses {
  uint64_t q = 0, k = 0, v = 0, o = 0;
};

// The parameter block of a launch: the manifest's args in order, each where the machine code expects it. The values' C
// types are docs/writing-a-kernel.md's table. An arg that no table knows, or whose size or number does not match what
// the kernel declares, is a Failure (Stage::launch) that names it.
Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel, std::span<const std::string> args,
                                               const Problem& problem, const TensorAddresses& addresses);

}  // namespace attnscope::device
