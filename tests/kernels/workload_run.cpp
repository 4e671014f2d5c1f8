#include "workload_run.h"

#include "catalog/devices.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "device/emulated/emulated_device.h"
#include "support/test_cache.h"

namespace attnscope::kernel_tests {
namespace {

const std::filesystem::path kCache = test_cache();

}  // namespace

DeviceSpec emulated_spec(int arch) {
  const char* file = arch == 80 ? "a100.json" : arch == 89 ? "l4.json" : "h200.json";
  return catalog::load_device(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/devices" / file).value();
}

Result<Compiled> compile_workload(const Kernel& kernel, const std::map<std::string, int64_t>& sizes,
                                  const std::map<std::string, int64_t>& knobs, int arch) {
  static compile::Compiler compiler({.cache_dir = kCache / "variants"});
  Compiled made{kernel, kernel.default_problem(), {}, {}, {}};
  for (const auto& [name, value] : sizes) made.problem.sizes[name] = value;
  auto config = catalog::complete_config(kernel, knobs, kernel.options);
  if (!config) return fail(config.error());
  made.config = *config;
  if (auto taken = catalog::check_restrictions(kernel, made.problem, made.config, arch); !taken)
    return fail(taken.error());
  compile::CompileRequest request;
  request.source = kernel.source;
  request.file_name = kernel.source_name;
  request.entry = kernel.entry;
  request.macros = catalog::macros(kernel, made.problem, made.config);
  request.dtype = catalog::dtype_macro(made.problem);
  request.options = made.config.options;
  request.headers = kernel.headers;
  request.arch = arch;
  auto variant = compiler.compile(request);
  if (!variant) return fail(variant.error());
  made.variant = *variant;
  auto constants = compile::constants_of(*made.variant, kernel.launch.constants);
  if (!constants) return fail(constants.error());
  auto launch = catalog::launch_of(kernel, made.problem, made.config, &*constants);
  if (!launch) return fail(launch.error());
  made.launch = *launch;
  return made;
}

Result<WorkloadRun> emulate(const Compiled& compiled, int arch) {
  const auto device = device::make_emulated_device(emulated_spec(arch), kCache / "programs");
  auto loaded = device->load(*compiled.variant);
  if (!loaded) return fail(loaded.error());
  auto workload = catalog::workload_of(compiled.kernel, compiled.problem, compiled.config);
  if (!workload) return fail(workload.error());
  auto operands = check::make_operands(*workload, compiled.problem);
  if (!operands) return fail(operands.error());
  device::LaunchRequest request;
  request.name = compiled.kernel.id;
  request.loaded = *loaded;
  request.problem = compiled.problem;
  request.operands = *operands;
  request.arguments = workload->arguments;
  request.shape = compiled.launch.shape;
  request.dynamic_shared = compiled.launch.dynamic_shared;
  auto outcome = device->run(request, {});
  if (!outcome) return fail(outcome.error());
  return WorkloadRun{std::move(*workload), std::move(*operands), std::move(*outcome)};
}

}  // namespace attnscope::kernel_tests
