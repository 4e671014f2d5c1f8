#pragma once
#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::worker {

// What the compiler is asked for: `kernel` in that config, for a problem's head dimension, mask and type. `arch` is a
// compute capability x 10.
compile::CompileRequest variant_request(const Kernel& kernel, const Problem& problem, const Config& config, int arch);

// The launch, with the constants of the compiled source that the manifest's expressions name.
Result<catalog::Launch> launch_of(const Kernel& kernel, const Problem& problem, const Config& config,
                                  const compile::Variant& variant);

}  // namespace attnscope::worker
