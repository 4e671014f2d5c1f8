#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/launch.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/export_text.h"
#include "cli/export_workload.h"
#include "cli/places.h"
#include "compile/compiler.h"
#include "core/code_file.h"
#include "core/escape.h"
#include "platform/atomic_file.h"
#include "platform/output_file.h"
#include "worker/constant_data.h"
#include "worker/variant_request.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxTemplate = 1 << 20;

struct ExportOptions {
  ExperimentOptions experiment;
  std::string out;
  int arch = 0;  // 0: the device's
};

// An emulated device's architecture is data; a GPU's is unknown here, because nothing runs.
Result<int> arch_of(const std::string& device, const Places& places) {
  for (const DeviceSpec& spec : emulated_devices(places).devices)
    if (spec.id == device) return spec.arch;
  return fail(Stage::input, "the architecture of " + device + " is not known here", "Give it with --arch 89.");
}

// Checks that what the launchers fix does not depend on the sizes that they leave free.
Result<void> holds_for_other_sizes(const Export& e) {
  if (e.launch.shape.cooperative)
    return fail(Stage::input,
                e.kernel.id + ": its launch is cooperative, so that a GPU must hold all of its CTAs at once",
                "Exported launchers take any batch, heads and lengths; this kernel cannot be exported.");
  Problem other = e.problem;
  other.batch += 1;
  other.heads *= 2;
  other.kv_heads *= 2;
  other.seq_q += 977;
  other.seq_k += 977;
  auto launch = catalog::launch_of(e.kernel, other, e.config);
  if (!launch) return fail(launch.error());
  if (launch->shape.block == e.launch.shape.block && launch->dynamic_shared == e.launch.dynamic_shared) return {};
  return fail(Stage::input, e.kernel.id + ": its block or shared memory depends on the problem's sizes",
              "Exported launchers take any batch, heads and lengths; this kernel cannot be exported.");
}

// Compiles its launches; launches of one entry share their code.
Result<void> compile_launches(Export& e, const Places& places) {
  compile::Compiler compiler({.cache_dir = places.user.cache / "variants"});
  std::optional<Workload> workload;
  if (!e.problem.is_attention()) {
    auto made = catalog::workload_of(e.kernel, e.problem, e.config);
    if (!made) return fail(made.error());
    workload = std::move(*made);
  }
  worker::Variants variants;
  for (Kernel& kernel : e.kernel.launches()) {
    ExportedLaunch& one = e.launches.emplace_back();
    one.kernel = std::move(kernel);
    auto launch = catalog::launch_of(one.kernel, e.problem, e.config);
    if (!launch) return fail(launch.error());
    one.launch = *launch;
    auto variant = compiler.compile(worker::variant_request(one.kernel, e.problem, e.config, e.arch));
    if (!variant) return fail(variant.error());
    variants.push_back(*variant);
    const auto same =
        std::ranges::find(e.launches, one.kernel.entry, [](const ExportedLaunch& other) { return other.kernel.entry; });
    const auto at = static_cast<size_t>(same - e.launches.begin());
    one.stem = at == 0 ? e.stem : fmt::format("{}_{}", e.stem, at + 1);
  }
  auto filled = worker::with_constant_data(std::move(variants), workload, e.problem);
  if (!filled) return fail(filled.error());
  for (size_t i = 0; i < e.launches.size(); ++i) {
    ExportedLaunch& one = e.launches[i];
    one.variant = (*filled)[i];
    auto settled = worker::settled(one.launch, one.kernel, e.problem, e.config, *one.variant);
    if (!settled) return fail(settled.error());
    one.launch = *settled;
  }
  e.launch = e.launches.front().launch;
  e.variant = e.launches.front().variant;
  return {};
}

Result<Export> settle(const ExportOptions& options, const Places& places) {
  auto named = draft_of(options.experiment);
  if (!named) return fail(named.error());
  Export e;
  e.kernel = named->kernel;
  e.problem = named->draft.problem;
  if (!e.kernel.library.is_source())
    return fail(Stage::input,
                e.kernel.id + " is a routine of " + e.kernel.library.name() + ": there is no source to export",
                "Choose a kernel that has one.");
  if (is_machine_code(e.kernel.source))
    return fail(Stage::input, e.kernel.id + " is machine code already: there is no source to export",
                "Launch " + e.kernel.source_name + " itself.");
  if (e.problem.is_attention() && e.problem.layout != Layout::BHSD)
    return fail(Stage::input, "export writes launchers for the layout BHSD", "Set layout to BHSD.");
  auto arch = options.arch ? Result<int>(options.arch) : arch_of(named->draft.device, places);
  if (!arch) return fail(arch.error());
  e.arch = *arch;
  auto config = catalog::complete_config(e.kernel, named->draft.config.knobs, named->draft.config.options);
  if (!config) return fail(config.error());
  e.config = *config;
  if (auto allowed = catalog::check_restrictions(e.kernel, e.problem, e.config, e.arch); !allowed)
    return fail(allowed.error());
  e.stem = fmt::format("{}_sm{}", e.kernel.id, e.arch);
  if (auto made = compile_launches(e, places); !made) return fail(made.error());
  if (e.problem.is_attention())
    if (auto holds = holds_for_other_sizes(e); !holds) return fail(holds.error());
  return e;
}

Result<void> write_code(const ExportedLaunch& one, const fs::path& out) {
  const std::string cubin = one.stem + ".cubin", ptx = one.stem + ".ptx";
  if (auto done = platform::write_output(out / cubin, std::span<const std::byte>(one.variant->cubin)); !done)
    return done;
  return platform::write_output(out / ptx, std::string_view(one.variant->ptx));
}

Result<void> write_all(const Export& e, const fs::path& out, const fs::path& assets) {
  if (auto made = platform::make_output_folder(out); !made) return made;
  const auto write = [&](const std::string& name, auto&& content) {
    return platform::write_output(out / name, content);
  };
  if (auto done = write(e.stem + ".cu", std::string_view(source_of(e))); !done) return done;
  if (auto done = write("build.sh", std::string_view("#!/bin/sh\nset -e\n" + nvcc_line(e) + "\n")); !done) return done;
  for (const ExportedLaunch& one : e.launches)
    if (auto done = write_code(one, out); !done) return done;
  if (!e.problem.is_attention()) {
    auto data = data_of(e);
    if (!data) return fail(data.error());
    if (auto made = platform::make_output_folder(out / "data"); !made) return made;
    for (const auto& [name, bytes] : data->files)
      if (auto done = write("data/" + name, std::span<const std::byte>(bytes)); !done) return done;
  }
  const std::string prefix = e.problem.is_attention() ? "" : "workload.";
  for (const char* name : {"launch.cpp", "launch.py", "README.md"}) {
    auto form = platform::read_file(assets / "export" / (prefix + name + ".in"), kMaxTemplate);
    if (!form) return fail(form.error());
    auto text = filled(*form, e);
    if (!text) return fail(text.error());
    if (auto done = write(name, std::string_view(*text)); !done) return done;
  }
  return {};
}

int export_kernel(const ExportOptions& options) {
  auto places = find_places();
  if (!places) return report(places.error());
  auto settled = settle(options, *places);
  if (!settled) return report(settled.error());
  if (auto written = write_all(*settled, options.out, places->resources / "assets"); !written)
    return report(written.error());
  std::string said = fmt::format("{}\n  {}\n", options.out, nvcc_line(*settled));
  for (const ExportedLaunch& one : settled->launches)
    said += fmt::format("  {}{} registers, {} B static and {} B dynamic shared memory, code {}\n",
                        settled->launches.size() > 1 ? one_line(one.kernel.entry) + ": " : "",
                        one.variant->info.registers, one.variant->info.static_shared_bytes, one.launch.dynamic_shared,
                        one.variant->info.code_hash.substr(0, 12));
  print_result(said);
  return kCorrectOrUnchecked;
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "export", "Write a config as standalone files: .cu, nvcc line, cubin, PTX, launchers in C++ and Python");
  auto options = std::make_shared<ExportOptions>();
  add_experiment_options(*command, options->experiment);
  command->add_option("--out", options->out, "The folder to write")->type_name("DIR")->required();
  command->add_option("--arch", options->arch, "Compute capability x 10; else the device's")
      ->type_name("80|89|90")
      ->check(CLI::Range(75, 129));
  command->callback([options, &chosen] { chosen = [options] { return export_kernel(*options); }; });
}

}  // namespace attnscope::cli
