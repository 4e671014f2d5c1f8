#pragma once
#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::worker {

// The compiler's request: `kernel` in that config, for a problem's head dimension, mask and type. `arch` is a compute
// capability x 10.
compile::CompileRequest variant_request(const Kernel& kernel, const Problem& problem, const Config& config, int arch);

// `launch`, made before the source was compiled, with the constants of the source that the manifest's expressions name.
Result<catalog::Launch> settled(const catalog::Launch& launch, const Kernel& kernel, const Problem& problem,
                                const Config& config, const compile::Variant& variant);

}  // namespace attnscope::worker
