#include "worker/list_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/validate.h"
#include "compile/sass.h"
#include "core/joined.h"
#include "emulator/emulator.h"
#include "worker/planned.h"
#include "worker/variant_request.h"

namespace attnscope::worker {

Result<size_t> wanted_launch(const Kernel& kernel, const std::vector<Kernel>& launches, std::optional<int64_t> step,
                             const KeptCode::Runs* runs) {
  if (step) {
    for (size_t i = 0; i < launches.size(); ++i)
      if (launches[i].step && static_cast<int64_t>(*launches[i].step) == *step) return i;
    const std::string known = joined(launches, [](const Kernel& one) { return launch_words(one); });
    return fail(Stage::input, fmt::format("{} has no launch {}", kernel.id, *step + 1),
                kernel.steps.empty() ? "It is one launch: leave --launch out." : "It has " + known + ".");
  }
  size_t longest = 0;
  double most = 0;
  for (size_t i = 0; runs != nullptr && i < std::min(runs->size(), launches.size()); ++i) {
    double us = 0;
    for (const model::Stall& stall : (*runs)[i].stalls) us += stall.time;
    if (us > most) most = us, longest = i;
  }
  return longest;
}

Result<Listing> list_code(Services& services, const Experiment& experiment, const Kernel& kernel,
                          std::optional<int64_t> step, int64_t compile_ms, const std::atomic<bool>& cancel) {
  if (!kernel.library.is_source())
    return fail(Stage::input, kernel.id + " is a routine of " + kernel.library.name() + ": its code is the library's",
                "Choose a kernel that has a source.");
  auto device = services.find_device(experiment.device);
  if (!device) return fail(device.error());
  auto config = catalog::complete_config(kernel, experiment.config.knobs, experiment.config.options);
  if (!config) return fail(config.error());
  const std::string hash = hash_of(experiment);
  const auto runs = services.code.find(hash);
  const std::vector<Kernel> launches = kernel.launches();
  const auto at = wanted_launch(kernel, launches, step, runs.get());
  if (!at) return fail(at.error());
  const Kernel& launch = launches[*at];
  auto variant = services.compile(variant_request(launch, experiment.problem, *config, (*device)->spec().arch),
                                  compile_ms, cancel);
  if (!variant) return fail(variant.error());
  auto sass = services.pool.run<std::shared_ptr<const compile::SassProgram>>(
      [variant = *variant, folder = services.decoded_cache] {
        return compile::disassemble(variant->cubin, variant->entry_symbol, {.nvdisasm = {}, .cache_dir = folder});
      },
      cancel);
  if (!sass) return fail(sass.error());
  // Code that the emulator cannot run is listed too, without what its instructions read and write.
  const auto program = emulator::prepare(*sass);
  const device::CodeRun* run = runs != nullptr && *at < runs->size() ? &(*runs)[*at] : nullptr;
  auto listing = device::listing_of(**sass, program ? program->get() : nullptr, run);
  if (!listing) return listing;
  listing->experiment_hash = hash;
  listing->ptx = (*variant)->ptx;
  if (launch.step) listing->launch = launch_words(launch);
  return listing;
}

}  // namespace attnscope::worker
