// `attnscope check`: finds what compute-sanitizer's four tools look for, without a GPU, over the whole grid.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/findings.h"
#include "cli/given_file.h"
#include "cli/one_run.h"
#include "cli/run_text.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/output_file.h"

namespace attnscope::cli {
namespace {

struct CheckOptions {
  GivenFile given;
  OneRun run;
  std::string watch = kWatchAll, sarif;
  bool json = false;
};

std::string checked_text(const Observation& o, const SourceFile& source, const FileKernel& kernel,
                         const std::string& config) {
  std::string out = heading_text(o, config);
  out += of_file_text(kernel);
  if (o.watch) out += text_line("watched", watched_text(*o.watch, !o.launches.empty()));
  const std::vector<Located> all = located(o, source);
  for (const Located& one : all) out += one_line(line_of(one)) + "\n";
  const auto errors = std::ranges::count(all, Severity::error, &Located::severity);
  const auto notes = std::ranges::count(all, Severity::info, &Located::severity);
  const auto others = static_cast<std::ptrdiff_t>(all.size()) - errors - notes;
  std::string count =
      fmt::format("{} error{}, {} warning{}", errors, errors == 1 ? "" : "s", others, others == 1 ? "" : "s");
  if (notes > 0) count += fmt::format(", {} note{}", notes, notes == 1 ? "" : "s");
  if (o.verdict) out += text_line("verdict", verdict_text(o));
  std::string result = count;
  if (all.empty()) result = is_whole(o) ? "clean" : "nothing found in a part of the grid";
  if (all.empty() && stores_nothing(o)) result = std::string("nothing found, but ") + kStoresNothing;
  out += text_line("result", result);
  return out;
}

int check_file(const CheckOptions& options) {
  if (!options.sarif.empty())
    if (auto possible = platform::check_output(options.sarif); !possible) return report(possible.error());
  auto named = named_by(options.given, options.run.experiment, options.run.deadline_ms);
  if (!named) return report(named.error());
  OneRun run = options.run;
  run.patient = true;
  run.experiment = named->options;
  run.watch = options.watch == kWatchAll ? session::Watch::whole_grid : session::Watch::always;
  auto ran = run_one(run);
  if (!ran) return report(ran.error());
  const Observation& o = ran->observation;
  const SourceFile source = source_of(options.given, *named, ran->kernel);
  if (!options.sarif.empty())
    if (auto done = platform::write_output(options.sarif, json_text(sarif_of(o, source), 2) + "\n"); !done)
      return report(done.error());
  print_result(options.json ? json_text(to_json(o), 2)
                            : checked_text(o, source, named->kernel, short_text(o.experiment.config, ran->kernel)));
  if (o.failure && !o.failure->hint.empty()) print_note("  " + o.failure->hint);
  const ExitStatus status = status_of(o);
  return status == kCorrectOrUnchecked && !is_whole(o) ? kWrong : status;
}

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "check", "Look for races, uneven barriers, reads of unwritten memory and accesses out of bounds; needs no GPU");
  auto options = std::make_shared<CheckOptions>();
  add_file_options(*command, options->given);
  add_experiment_options(*command, options->run.experiment);
  add_worker_options(*command, options->run.workers);
  add_deadline_option(*command, options->run);
  add_watch_option(*command, options->watch, "--watch=sample: only eight CTAs of the grid, and then it is not whole");
  command->add_option("--sarif", options->sarif, "Write the findings as SARIF 2.1.0 too")->type_name("FILE");
  command->add_flag("--json", options->json, "As JSON (docs/observation.schema.json)");
  command->callback([options, &chosen] { chosen = [options] { return check_file(*options); }; });
}

}  // namespace attnscope::cli
