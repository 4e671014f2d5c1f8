#include "cli/experiment_options.h"

#include <CLI/CLI.hpp>

#include "catalog/catalog.h"
#include "catalog/fixed_name.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "cli/places.h"
#include "core/joined.h"
#include "core/near.h"
#include "core/options.h"
#include "store/preset.h"

namespace attnscope::cli {
namespace {

// If the requested kernel did not load, its own error is returned. Errors of other kernels are only notes, because they
// do not explain an unknown name.
Result<Kernel> find_kernel(const catalog::Catalog& catalog, const std::string& id) {
  if (const Kernel* kernel = attnscope::find_kernel(catalog.kernels, id)) return *kernel;
  if (const auto broken = catalog.unloaded.find(id); broken != catalog.unloaded.end()) return fail(broken->second);
  std::string hint = names_to_choose(id, ids_of(catalog.kernels)) + " Add your own folder with --kernels DIR.";
  for (const Failure& failure : catalog.failures) hint += "\n  Another kernel did not load: " + failure.message;
  return fail(Stage::input, "there is no kernel \"" + id + "\"", hint);
}

}  // namespace

Result<NamedDraft> draft_against(ExperimentOptions options, const std::string& preset, const std::string& device) {
  options.preset = preset;
  options.kernel.clear();
  options.settings.clear();
  options.options.clear();
  auto named = draft_of(options);
  if (named && !device.empty()) named->draft.device = device;
  return named;
}

std::vector<std::string> ids_of(const std::vector<Kernel>& kernels) {
  std::vector<std::string> ids;
  for (const Kernel& kernel : kernels) ids.push_back(kernel.id);
  return ids;
}

void add_experiment_options(CLI::App& command, ExperimentOptions& options) {
  command.add_option("--preset", options.preset, "Start from this preset")->type_name("FILE");
  command.add_option("--kernel", options.kernel, "The kernel's id")->type_name("ID");
  command.add_option("--set", options.settings, "Set a knob (may be repeated)")->type_name("KNOB=VALUE");
  command
      .add_option("--option", options.options, "Set a compile option: " + joined(option_names()) + " (may be repeated)")
      ->type_name("NAME=VALUE");
  command.add_option("--problem", options.problem, "B=1,H=8,S=512,D=64,causal=none,seed=0,dist=normal")
      ->type_name("SIZES");
  command.add_option("--device", options.device, "Where to run, as `attnscope devices` names it")->type_name("DEVICE");
  add_kernels_option(command, options.kernel_dirs);
}

Result<NamedDraft> draft_of(const ExperimentOptions& options) {
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return fail(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  NamedDraft named;
  Draft& draft = named.draft;
  auto presets = preset_dirs();
  if (!presets) return fail(presets.error());
  const auto unasked = store::default_preset(*presets, catalog.kernels);
  const auto preset = options.preset.empty() ? unasked : store::read_preset(options.preset, catalog.kernels);
  if (preset)
    draft = *preset;
  else if (!options.preset.empty() || options.kernel.empty())
    return fail(preset.error());
  if (!options.kernel.empty() && options.kernel != draft.kernel) {
    draft.kernel = options.kernel;
    draft.config.knobs.clear();
  }
  auto kernel = find_kernel(catalog, draft.kernel);
  if (!kernel) return fail(kernel.error());
  named.kernel = *kernel;
  if (options.preset.empty()) draft.config.options = kernel->options;
  draft.problem = catalog::problem_for(*kernel, draft.problem);
  for (const std::string& setting : options.settings) {
    auto parsed = catalog::parse_setting(named.kernel, setting);
    if (!parsed) return fail(parsed.error());
    draft.config.knobs[parsed->first] = parsed->second;
  }
  for (const std::string& option : options.options)
    if (auto set = apply_option(draft.config.options, option); !set) return fail(set.error());
  if (!options.problem.empty()) {
    auto problem = problem_from_text(options.problem, draft.problem,
                                     [&](const std::string& key) { return catalog::why_no_size(named.kernel, key); });
    if (!problem) return fail(problem.error());
    draft.problem = *problem;
  }
  if (!options.device.empty()) draft.device = options.device;
  if (draft.device.empty() && unasked) draft.device = unasked->device;
  return named;
}

}  // namespace attnscope::cli
