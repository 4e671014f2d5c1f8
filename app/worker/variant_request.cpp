#include "worker/variant_request.h"

#include <algorithm>

namespace attnscope::worker {

compile::CompileRequest variant_request(const Kernel& kernel, const Problem& problem, const Config& config, int arch) {
  compile::CompileRequest request;
  request.source = kernel.source;
  request.file_name = kernel.source_name;
  request.entry = kernel.entry;
  request.macros = catalog::macros(kernel, problem, config);
  request.dtype = catalog::dtype_macro(problem);
  request.options = config.options;
  request.headers = kernel.headers;
  request.arch = arch;
  return request;
}

int nvcc_ms(int64_t deadline_ms) { return static_cast<int>(std::max<int64_t>(deadline_ms - deadline_ms / 12, 1)); }

Result<catalog::Launch> settled(const catalog::Launch& launch, const Kernel& kernel, const Problem& problem,
                                const Config& config, const compile::Variant& variant) {
  if (kernel.launch.constants.empty()) return launch;
  auto constants = compile::constants_of(variant, kernel.launch.constants);
  if (!constants) return fail(constants.error());
  return catalog::launch_of(kernel, problem, config, &*constants);
}

}  // namespace attnscope::worker
