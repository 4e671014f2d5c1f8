#include "cli/experiment_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "cli/places.h"
#include "store/preset.h"

namespace attnscope::cli {
namespace {

constexpr const char* kFirstKernel = "tiled";
constexpr const char* kFirstDevice = "emulated:l4";

// A kernel that did not load and is the one asked for must say so, not "no such kernel".
Result<Kernel> find_kernel(const catalog::Catalog& catalog, const std::string& id,
                           const std::vector<std::string>& given_dirs) {
  for (const Kernel& kernel : catalog.kernels)
    if (kernel.id == id) return kernel;
  for (const Failure& failure : catalog.failures) {
    const bool of_given = std::any_of(given_dirs.begin(), given_dirs.end(),
                                      [&](const std::string& dir) { return failure.message.starts_with(dir); });
    if (of_given || failure.message.find(id) != std::string::npos) return fail(failure);
  }
  std::string known;
  for (const Kernel& kernel : catalog.kernels) known += (known.empty() ? "" : ", ") + kernel.id;
  return fail(Stage::input, "--kernel " + id + ": no such kernel",
              "Known: " + known + ". A folder of your own is added with --kernels DIR.");
}

}  // namespace

void add_experiment_options(CLI::App& command, ExperimentOptions& options) {
  command.add_option("--preset", options.preset, "Start from this preset")->type_name("FILE");
  command.add_option("--kernel", options.kernel, "The kernel's id")->type_name("ID");
  command.add_option("--set", options.settings, "Set a knob (may be repeated)")->type_name("KNOB=VALUE");
  command.add_option("--problem", options.problem, "B=1,H=8,S=512,D=64,causal=none,seed=0,dist=normal")
      ->type_name("SIZES");
  command.add_option("--device", options.device, "Where to run, as `attnscope devices` names it")->type_name("DEVICE");
  command.add_option("--kernels", options.kernel_dirs, "Also the kernels of this folder (may be repeated)")
      ->type_name("DIR");
}

Result<NamedDraft> draft_of(const ExperimentOptions& options) {
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return fail(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  NamedDraft named;
  session::Draft& draft = named.draft;
  draft.kernel = kFirstKernel;
  if (!options.preset.empty()) {
    auto preset = store::read_preset(options.preset, catalog.kernels);
    if (!preset) return fail(preset.error());
    draft = {preset->problem, preset->kernel, preset->knobs, preset->options, preset->device, preset->measure};
  }
  if (!options.kernel.empty() && options.kernel != draft.kernel) {
    draft.kernel = options.kernel;
    draft.knobs.clear();
  }
  auto kernel = find_kernel(catalog, draft.kernel, options.kernel_dirs);
  if (!kernel) return fail(kernel.error());
  named.kernel = *kernel;
  if (options.preset.empty()) draft.options = kernel->options;
  draft.problem = catalog::problem_for(*kernel, draft.problem);
  for (const std::string& setting : options.settings) {
    auto parsed = catalog::parse_setting(named.kernel, setting);
    if (!parsed) return fail(parsed.error());
    draft.knobs[parsed->first] = parsed->second;
  }
  if (!options.problem.empty()) {
    auto problem = problem_from_text(options.problem, draft.problem);
    if (!problem) return fail(problem.error());
    draft.problem = *problem;
  }
  if (!options.device.empty()) draft.device = options.device;
  if (draft.device.empty()) draft.device = kFirstDevice;
  return named;
}

}  // namespace attnscope::cli
