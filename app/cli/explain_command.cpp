#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/explain_text.h"
#include "cli/places.h"
#include "cli/scan_wait.h"
#include "cli/waiting_words.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/observation_fields.h"
#include "core/with_commas.h"
#include "explain/explain.h"
#include "explain/gemm_call.h"
#include "explain/ncu_csv.h"
#include "explain/resources.h"
#include "explain/tried.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMostExplained = 16 << 20;  // of a file to explain

struct ExplainOptions {
  ExperimentOptions experiment;
  WorkerOptions workers;
  std::string against;               // a preset's file
  std::string gemm, ncu, resources;  // files to explain instead of an experiment
  std::vector<std::string> runs;     // the same: none, or two observations
  bool tries = false;
  bool watch = false;
  bool all = false;  // findings
  bool json = false;
};

class Explainer {
 public:
  Explainer(const ExplainOptions& options, session::Session& session) : options_(options), session_(session) {}

  Observation run(Draft draft) {
    return waiting_.wait(session_, std::move(draft),
                         options_.watch ? session::Watch::explained : session::Watch::never);
  }

  // Runs every config that differs in one knob on the same device, and adds the gains to the findings.
  void try_neighbours(Observation& base) {
    if (base.failure) return;
    session::ScanRequest request{.id = 1, .draft = base.experiment, .knobs = {}};
    if (options_.watch) request.watch = session::Watch::always;
    request.warned = false;
    request.known = {session::share(base)};
    std::vector<Observation> tried;
    for (const ScanPoint& point : scan_and_wait(session_, std::move(request))->points)
      if (!point.current && point.observation) tried.push_back(*point.observation);
    explain::take_tried(base, tried);
  }

 private:
  const ExplainOptions& options_;
  session::Session& session_;
  WaitingWords waiting_;
};

Result<std::string> text_of_file(const std::string& file) {
  auto text = platform::read_file(file, kMostExplained);
  if (!text) return fail(Stage::input, text.error().message, "Give a file that can be read.");
  return text;
}

Result<Json> json_of_file(const std::string& file) {
  auto text = text_of_file(file);
  if (!text) return fail(text.error());
  return parse_json(*text, file);
}

// What two observations, as --json writes them, say of each other.
Result<std::vector<Finding>> findings_of_runs(const std::vector<std::string>& files) {
  std::vector<Observation> runs;
  for (const std::string& file : files) {
    auto json = json_of_file(file);
    if (!json) return fail(json.error());
    auto run = observation_from_json(*json, file);
    if (!run) return fail(Stage::input, run.error().message, "Give what `run --json` or `explain --json` wrote.");
    runs.push_back(std::move(*run));
  }
  return explain::changes(runs.at(0), runs.at(1));
}

struct FileSaid {
  std::string heading = {};  // for people; may be empty
  std::vector<Finding> findings;
};

Result<FileSaid> said_by_resources(const std::string& file) {
  auto json = json_of_file(file);
  if (!json) return fail(json.error());
  const auto places = find_places();
  if (!places) return fail(places.error());
  auto said = explain::findings_of_resources(*json, file, emulated_devices(*places).devices);
  if (!said) return fail(said.error());
  const Occupancy& o = said->occupancy;
  FileSaid made{"", std::move(said->findings)};
  if (o.ctas_per_sm == 0) return made;  // it does not fit
  made.heading = fmt::format("CTAs on an SM  {} ({} limits them), {} warps; on the device {}\n", o.ctas_per_sm,
                             to_string(o.limiter), o.warps_per_sm, with_commas(o.resident_ctas));
  return made;
}

Result<FileSaid> findings_of_file(const ExplainOptions& options) {
  const auto only = [](Result<std::vector<Finding>> findings) -> Result<FileSaid> {
    if (!findings) return fail(findings.error());
    return FileSaid{"", std::move(*findings)};
  };
  if (!options.resources.empty()) return said_by_resources(options.resources);
  if (!options.runs.empty()) return only(findings_of_runs(options.runs));
  if (!options.gemm.empty()) {
    auto json = json_of_file(options.gemm);
    if (!json) return fail(json.error());
    return only(explain::findings_of_gemm(*json, options.gemm));
  }
  auto text = text_of_file(options.ncu);
  if (!text) return fail(text.error());
  return only(explain::findings_of_ncu(*text, options.ncu));
}

int explain_file(const ExplainOptions& options) {
  auto said = findings_of_file(options);
  if (!said) return report(said.error());
  const std::vector<Finding>& findings = said->findings;
  if (!options.json) {
    print_result(said->heading + text_of(findings));
  } else {
    Json all = Json::array();
    for (const Finding& finding : findings) all.push_back(write_fields(finding));
    print_result(json_text(all, 2));
  }
  return std::ranges::any_of(findings, [](const Finding& one) { return one.severity == Severity::error; })
             ? kWrong
             : kCorrectOrUnchecked;
}

int explain_experiment(const ExplainOptions& options) {
  auto named = draft_of(options.experiment);
  if (!named) return report(named.error());
  auto session = bare_session(options.experiment, options.workers, named->draft);
  if (!session) return report(session.error());
  Explainer explainer(options, **session);
  std::optional<Observation> against;
  if (!options.against.empty()) {
    auto first = draft_against(options.experiment, options.against, named->draft.device);
    if (!first) return report(first.error());
    against = explainer.run(first->draft);
    if (against->failure) return report(*against->failure);
  }
  Observation observation = explainer.run(named->draft);
  if (options.tries) explainer.try_neighbours(observation);
  if (against) explain::put_changes_first(*against, observation);
  print_result(options.json ? json_text(to_json(observation), 2)
                            : explanation_of(observation, named->kernel, against ? &*against : nullptr,
                                             options.all ? SIZE_MAX : charts::FindingsOfGroup::kFew));
  if (observation.failure) report(*observation.failure);
  return status_of(observation);
}

}  // namespace

void add_explain(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("explain", "Say why an experiment is slow, wrong or refused, and what to try");
  auto options = std::make_shared<ExplainOptions>();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  command->add_option("--against", options->against, "Compare with this preset, term by term")->type_name("FILE");
  auto* gemm = command->add_option("--gemm", options->gemm,
                                   "Instead of an experiment: a cuBLAS call's arguments, as JSON (docs/explaining.md)");
  auto* resources =
      command
          ->add_option("--resources", options->resources,
                       "Instead of an experiment: a kernel's registers, shared memory, threads and CTAs, as JSON")
          ->type_name("FILE")
          ->excludes(gemm);
  auto* ncu = command->add_option("--ncu", options->ncu, "Instead of an experiment: what `ncu --csv` wrote")
                  ->type_name("FILE")
                  ->excludes(gemm->type_name("FILE"))
                  ->excludes(resources);
  command
      ->add_option("--runs", options->runs,
                   "Instead of an experiment: two runs that --json wrote. Says if their times can be compared")
      ->type_name("FILE")
      ->expected(2)
      ->excludes(gemm)
      ->excludes(resources)
      ->excludes(ncu);
  command->add_flag("--try", options->tries,
                    "Run every config that differs in one knob, and say what each finding's cure gains");
  command->add_flag("--watch", options->watch, "Look for races, never-written reads and what is right by luck too");
  command->add_flag(
      "--all", options->all,
      fmt::format("Print every finding, not only the first {} of each group", charts::FindingsOfGroup::kFew));
  command->add_flag("--json", options->json, "The observation with its findings (docs/observation.schema.json)");
  command->callback([options, &chosen] {
    chosen = [options] {
      const bool is_file =
          !options->gemm.empty() || !options->ncu.empty() || !options->resources.empty() || !options->runs.empty();
      return is_file ? explain_file(*options) : explain_experiment(*options);
    };
  });
}

}  // namespace attnscope::cli
