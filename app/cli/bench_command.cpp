#include <CLI/CLI.hpp>

#include "cli/bench_timing.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/json_file.h"
#include "platform/output_file.h"
#include "report/bench_report.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMaxReport = 64 << 20;  // of a report

struct BenchOptions {
  BenchTiming timing;
  std::string from;                         // a report to render again
  std::string json, markdown, svg, ladder;  // files; "-": stdout
};

Result<void> put(const std::string& where, const std::string& text) {
  if (where == "-") {
    print_result(text);
    return {};
  }
  return platform::write_output(where, text);
}

int bench(const BenchOptions& options) {
  for (const std::string& where : {options.json, options.markdown, options.ladder, options.svg})
    if (!where.empty() && where != "-")
      if (auto possible = platform::check_output(where); !possible) return report(possible.error());
  Result<report::BenchReport> made;
  std::filesystem::path state_file;
  if (options.from.empty()) {
    auto timed = time_bench(options.timing);
    if (!timed) return report(timed.error());
    made = std::move(timed->report);
    state_file = timed->state_file;
  } else {
    auto json = platform::read_json(options.from, kMaxReport, Stage::input);
    made = json ? report::report_from_json(*json, options.from) : fail(json.error());
  }
  if (!made) return report(made.error());
  if (options.json.empty() && options.markdown.empty() && options.svg.empty() && options.ladder.empty())
    print_result(report::as_table(*made));
  if (!options.json.empty())
    if (auto done = put(options.json, json_text(report::to_json(*made), 1)); !done) return report(done.error());
  if (!options.markdown.empty())
    if (auto done = put(options.markdown, report::as_markdown(*made)); !done) return report(done.error());
  if (!options.ladder.empty())
    if (auto done = put(options.ladder, report::as_ladder(*made)); !done) return report(done.error());
  if (!options.svg.empty())
    if (auto done = put(options.svg, report::as_svg(*made)); !done) return report(done.error());
  std::error_code none;
  if (!state_file.empty()) std::filesystem::remove(state_file, none);  // otherwise the next run would continue from it
  for (const report::Row& row : made->rows)
    for (const report::Cell& cell : row.cells)
      if (cell.state == report::CellState::wrong) return kWrong;
  return kCorrectOrUnchecked;
}

}  // namespace

void add_bench(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Time problems by kernels and peers in one run, in turn");
  auto options = std::make_shared<BenchOptions>();
  BenchWishes& wishes = options->timing.wishes;
  command
      ->add_option("--problem", wishes.problems, "B=1,H=8,S=512,D=64,causal=none (may be repeated); else a set of five")
      ->type_name("SIZES");
  command->add_option("--kernel", wishes.kernels, "Only this kernel, with these knobs (may be repeated)")
      ->type_name("ID[:KNOB=VALUE,...]");
  command->add_option("--peer", wishes.peers, "Compare with this peer (may be repeated); else PyTorch's backends")
      ->type_name("ID[:KNOB=VALUE,...]");
  add_timing_options(*command, options->timing);
  command->add_option("--from", options->from, "Time nothing: write this report again")->type_name("REPORT.json");
  for (auto& [name, to, what] :
       {std::tuple("--json", &options->json, "As JSON"), std::tuple("--markdown", &options->markdown, "As Markdown"),
        std::tuple("--ladder", &options->ladder, "Only its table of entries by problems, as Markdown"),
        std::tuple("--svg", &options->svg, "As a picture")})
    command->add_option(name, *to, std::string(what) + ", to this file, or to stdout")
        ->type_name("[FILE]")
        ->expected(0, 1)
        ->default_str("-");
  command->callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace attnscope::cli
