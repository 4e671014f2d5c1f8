#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "catalog/catalog.h"
#include "cli/bench_timing.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/output_file.h"
#include "report/rbk_report.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using report::RbkConfig;
using report::RbkReport;

constexpr uint64_t kMaxConfig = 1 << 20;
// robust-kbench's names for PyTorch's scaled_dot_product_attention; here they mean every backend of it.
constexpr const char* kSdpa[] = {"sdpa", "pytorch_sdpa"};

struct ReportOptions {
  BenchTiming timing;
  std::string config;  // file
  std::string out;     // folder; empty: the config's, otherwise the current one
  bool require_gates = false;
};

Result<RbkConfig> read_config(const std::string& file) {
  auto text = platform::read_file(file, kMaxConfig);
  if (!text) return fail(Stage::input, text.error().message, "Give an rbk_config.yaml (docs/benching.md).");
  return report::rbk_config_from_yaml(*text, file);
}

bool is_sdpa(const std::string& runner) { return std::ranges::count(kSdpa, runner) > 0; }

std::string runner_id(const std::string& runner) { return runner.substr(0, runner.find(':')); }

// Adds the runners as a benchmark's kernels and peers.
Result<void> put_runners(const RbkConfig& config, const std::vector<Kernel>& kernels, BenchWishes& wishes) {
  bool sdpa = config.runners.empty();
  for (const std::string& runner : config.runners) {
    if (is_sdpa(runner)) {
      sdpa = true;
      continue;
    }
    const Kernel* kernel = find_kernel(kernels, runner_id(runner));
    const bool peer = kernel != nullptr && !kernel->library.is_source();
    (peer ? wishes.peers : wishes.kernels).push_back(runner);
  }
  wishes.without_peers = !sdpa && wishes.peers.empty();
  if (wishes.kernels.empty() && !config.runners.empty())
    return fail(Stage::input, "runners: no kernel is named", "Name one of `attnscope kernels` beside the peers.");
  wishes.baseline = config.baseline;
  if (wishes.baseline.empty() && !wishes.kernels.empty()) wishes.baseline = wishes.kernels.front();
  if (!config.baseline.empty() && std::ranges::count(wishes.kernels, config.baseline) == 0)
    return fail(Stage::input, "baseline: \"" + config.baseline + "\" is not one of the runners that are kernels",
                "Name it under runners too, in the same words.");
  return {};
}

// The problems without duplicates; `rows` gives the index of each shape's problem.
Result<std::vector<Problem>> problems_of(const RbkConfig& config, const std::string& where, std::vector<size_t>& rows) {
  std::vector<Problem> problems;
  for (const report::RbkShape& shape : config.shapes) {
    auto problem = report::problem_of(shape, where);
    if (!problem) return fail(problem.error());
    const auto known = std::ranges::find(problems, *problem);
    rows.push_back(static_cast<size_t>(known - problems.begin()));
    if (known == problems.end()) problems.push_back(std::move(*problem));
  }
  return problems;
}

Result<void> write_all(const RbkReport& made, const fs::path& folder) {
  const RbkConfig& config = made.config;
  const std::tuple<bool, const char*, std::string> files[] = {
      {config.save_json, "rbk_report.json", json_text(report::to_json(made), 1) + "\n"},
      {config.save_csv, "rbk_report.csv", report::as_csv(made)},
      {config.save_markdown, "rbk_report.md", report::as_markdown(made)},
      {config.save_html, "rbk_report.html", report::as_html(made)},
      {true, "bench.svg", report::as_svg(made.bench)},
      {true, "bench.json", json_text(report::to_json(made.bench), 1) + "\n"}};
  for (const auto& [wanted, name, text] : files)
    if (wanted)
      if (auto written = platform::write_output(folder / name, text); !written) return written;
  return {};
}

int report_status(const RbkReport& made, bool require_gates) {
  for (const report::Row& row : made.bench.rows)
    if (std::ranges::any_of(row.cells, [](const auto& cell) { return cell.state == report::CellState::wrong; }))
      return kWrong;
  const bool merges = std::ranges::all_of(made.merges, &report::Merge::passes);
  return require_gates && !merges ? kWrong : kCorrectOrUnchecked;
}

int write_report(const ReportOptions& options) {
  auto config = read_config(options.config);
  if (!config) return report(config.error());
  auto dirs = kernel_dirs(options.timing.kernel_dirs);
  if (!dirs) return report(dirs.error());
  BenchTiming timing = options.timing;
  timing.command = "report";
  if (auto named = put_runners(*config, catalog::load_catalog(*dirs).kernels, timing.wishes); !named)
    return report({Stage::input, options.config + ": " + named.error().message, named.error().hint});
  RbkReport made;
  auto problems = problems_of(*config, options.config, made.rows);
  if (!problems) return report(problems.error());
  timing.wishes.of_problems = std::move(*problems);
  const fs::path folder = !options.out.empty() ? options.out : !config->output_dir.empty() ? config->output_dir : ".";
  if (auto folder_made = platform::make_output_folder(folder); !folder_made) return report(folder_made.error());
  auto timed = time_bench(timing);
  if (!timed) return report(timed.error());
  if (timed->report.emulated && std::ranges::any_of(config->runners, is_sdpa))
    print_note(
        "attnscope report: PyTorch is not timed beside an emulated device: modelled and measured times are not "
        "compared");
  made.config = std::move(*config);
  made.bench = std::move(timed->report);
  made.state = std::move(timed->state);
  std::vector<bool> documented;
  for (const Kernel& kernel : timed->kernels) documented.push_back(!kernel.story.empty());
  made.merges = report::gates_of(made.bench, made.config, documented);
  if (auto written = write_all(made, folder); !written) return report(written.error());
  std::error_code none;
  if (!timed->state_file.empty()) fs::remove(timed->state_file, none);  // otherwise the next run would continue from it
  std::string out = report::as_table(made.bench) + "\n";
  for (const report::Merge& merge : made.merges)
    out += one_line(made.bench.entries[merge.entry].label + ": " + report::gates_text(merge)) + "\n";
  print_result(out + "\nWritten to " + one_line(folder.string()) + "\n");
  return report_status(made, options.require_gates);
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("report", "Time a grid of shapes by kernels and write the report to send");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("config", options->config, "Shapes, runners, baseline and gates (docs/benching.md)")
      ->type_name("rbk_config.yaml")
      ->required();
  command->add_option("--out", options->out, "Folder for the report; else the config's output_dir")->type_name("DIR");
  command->add_flag("--require-gates", options->require_gates, "Exit with 1 if a kernel does not pass every gate");
  add_timing_options(*command, options->timing);
  command->callback([options, &chosen] { chosen = [options] { return write_report(*options); }; });
}

}  // namespace attnscope::cli
