#include "worker/list_code.h"

#include "catalog/validate.h"
#include "compile/sass.h"
#include "emulator/emulator.h"
#include "worker/variant_request.h"

namespace attnscope::worker {

Result<Listing> list_code(Services& services, const Experiment& experiment, const Kernel& kernel,
                          const std::atomic<bool>& cancel) {
  if (!kernel.library.is_source())
    return fail(Stage::input, kernel.id + " is a routine of " + kernel.library.name() + ": its code is the library's",
                "Choose a kernel that has a source.");
  auto device = services.find_device(experiment.device);
  if (!device) return fail(device.error());
  auto config = catalog::complete_config(kernel, experiment.config.knobs, experiment.config.options);
  if (!config) return fail(config.error());
  auto wanted = variant_request(kernel, experiment.problem, *config, (*device)->spec().arch);
  auto variant = services.pool.run<std::shared_ptr<const compile::Variant>>(
      [compiler = services.compiler, wanted = std::move(wanted)] { return compiler->compile(wanted); }, cancel);
  if (!variant) return fail(variant.error());
  auto sass = services.pool.run<std::shared_ptr<const compile::SassProgram>>(
      [variant = *variant, folder = services.decoded_cache] {
        return compile::disassemble(variant->cubin, variant->entry_symbol, {.nvdisasm = {}, .cache_dir = folder});
      },
      cancel);
  if (!sass) return fail(sass.error());
  // Code that the emulator does not run has a listing too; only what it reads and writes is then not known.
  const auto program = emulator::prepare(*sass);
  const std::string hash = hash_of(experiment);
  auto listing = device::listing_of(**sass, program ? program->get() : nullptr, services.code.find(hash).get());
  if (!listing) return listing;
  listing->experiment_hash = hash;
  listing->ptx = (*variant)->ptx;
  return listing;
}

}  // namespace attnscope::worker
