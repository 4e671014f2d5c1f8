#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "catalog/launch.h"
#include "cli/banks_text.h"
#include "cli/command.h"
#include "cli/disasm_text.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/fragments_text.h"
#include "cli/number_checks.h"
#include "cli/softmax_text.h"
#include "cli/waiting_words.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"
#include "worker/list_code.h"

namespace attnscope::cli {
namespace {

struct DisasmOptions {
  ExperimentOptions experiment;
  WorkerOptions workers;
  std::string against;  // a preset's file
  std::string hottest;  // a column's word; empty: in the code's order
  BanksAsked banks;
  int64_t launch = 0;            // for a program, from 1; 0: the longest
  int64_t fragments = 0;         // a line of the source; 0: none
  uint32_t lane = 7;             // the lane whose elements are marked
  SoftmaxRow softmax{0, 0, -1};  // the row whose softmax steps are shown; row -1: none
  int64_t tile = 0;              // the tile, from 1; 0: no single tile
  bool by_line = false;
  bool ptx = false;
  bool json = false;
};

// An experiment, how its run went, and its code.
struct ListedCode {
  NamedDraft named;
  Observation seen;
  session::Shared<Listing> listing;
};

Result<ListedCode> list(session::Session& session, NamedDraft named, int64_t launch) {
  ListedCode listed{std::move(named), {}, {}};
  WaitingWords waiting;
  auto answer = session.queue(listed.named.draft);
  while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) waiting.look(*session.snapshot());
  listed.seen = answer.get();
  // A config that does not fit has code; one that does not compile has none.
  const bool has_code = !listed.seen.failure || listed.seen.variant || listed.seen.failure->stage == Stage::limits;
  if (!has_code) return fail(*listed.seen.failure);
  auto listing = wait_for_code(session, listed.seen.experiment, launch > 0 ? std::optional(launch - 1) : std::nullopt);
  if (!listing) return fail(listing.error());
  Listing own = **listing;
  own.experiment_hash = hash_of(listed.seen.experiment);  // the session's key of a launch's code is longer
  listed.listing = std::make_shared<const Listing>(std::move(own));
  return listed;
}

std::vector<charts::SourceLine> listed_source(const ListedCode& listed) {
  const Experiment& ran = listed.seen.experiment;
  return charts::preprocessed(listed.named.kernel.source,
                              catalog::macros(listed.named.kernel, ran.problem, ran.config));
}

template <class Lines>
std::vector<std::string> texts_of(const Lines& lines) {
  std::vector<std::string> texts;
  for (const auto& line : lines) texts.push_back(line.text);
  return texts;
}

std::string changes(const ListedCode& a, const ListedCode& b) {
  const auto source_a = listed_source(a), source_b = listed_source(b);
  return diff_text("source", charts::source_diff(source_a, source_b), texts_of(source_a), texts_of(source_b)) + "\n" +
         diff_text("SASS", charts::sass_diff(*a.listing, *b.listing), texts_of(a.listing->lines),
                   texts_of(b.listing->lines));
}

std::string listed_text(const ListedCode& listed, const DisasmOptions& options) {
  const std::string& source = listed.named.kernel.source;
  const auto lines = static_cast<size_t>(std::ranges::count(source, '\n')) + 1;
  const SourceLines of_source(listed.named.kernel.source_name, source);
  const charts::CodeView view = charts::code_view(*listed.listing, &listed.seen, of_source, lines);
  std::vector<int64_t> order;
  if (!options.hottest.empty()) {
    const auto column = *parse_word<charts::HeatColumn>(options.hottest);
    order = options.by_line ? view.hot_lines(column) : view.hot_instructions(column);
  } else if (options.by_line) {
    for (size_t at = 0; at < view.lines.size(); ++at)
      if (!view.instructions_of[at].empty()) order.push_back(int64_t(at) + 1);
  } else {
    order.resize(listed.listing->lines.size());
    std::iota(order.begin(), order.end(), 0);
  }
  const std::string whose = listed.listing->launch ? one_line(*listed.listing->launch) + "\n" : "";
  return whose +
         (options.by_line ? lines_text(listed.named.kernel, view, order) : sass_text(*listed.listing, view, order)) +
         counted_text(*listed.listing) + "\n";
}

Result<std::string> softmax_of(session::Session& session, const ListedCode& listed, const DisasmOptions& options) {
  auto listing = wait_for_softmax(session, listed.seen.experiment, options.softmax);
  if (!listing) return fail(listing.error());
  return softmax_text(*(*listing)->softmax, listed.named.kernel, options.tile);
}

// Before anything is compiled or runs.
Result<void> check_launch(const Kernel& kernel, int64_t launch) {
  if (launch == 0) return {};
  if (auto wanted = worker::wanted_launch(kernel, kernel.launches(), launch - 1, nullptr); !wanted)
    return fail(wanted.error());
  return {};
}

int disasm(const DisasmOptions& options) {
  auto named = draft_of(options.experiment);
  if (!named) return report(named.error());
  if (auto known = check_launch(named->kernel, options.launch); !known) return report(known.error());
  auto session = bare_session(options.experiment, options.workers, named->draft);
  if (!session) return report(session.error());
  std::optional<ListedCode> against;
  if (!options.against.empty()) {
    auto first = draft_against(options.experiment, options.against, named->draft.device);
    if (!first) return report(first.error());
    auto listed = list(**session, std::move(*first), options.launch);
    if (!listed) return report(listed.error());
    against = std::move(*listed);
  }
  auto listed = list(**session, std::move(*named), options.launch);
  if (!listed) return report(listed.error());
  if (options.banks.line > 0) {
    auto banks = banks_text(*listed->listing, listed->named.kernel, options.banks);
    if (!banks) return report(banks.error());
    print_result(*banks);
  } else if (options.softmax.row >= 0) {
    auto softmax = softmax_of(**session, *listed, options);
    if (!softmax) return report(softmax.error());
    print_result(*softmax);
  } else if (options.fragments > 0) {
    auto fragments = fragments_text(*listed->listing, listed->named.kernel, options.fragments, options.lane);
    if (!fragments) return report(fragments.error());
    print_result(*fragments);
  } else if (options.json)
    print_result(json_text(to_json(*listed->listing), 2));
  else if (options.ptx)
    print_result(listed->listing->ptx);
  else
    print_result(against ? changes(*against, *listed) : listed_text(*listed, options));
  if (listed->seen.failure) report(*listed->seen.failure);
  return status_of(listed->seen);
}

// Nothing is sampled here.
std::vector<std::string> column_words() {
  std::vector<std::string> all;
  for (const auto& [column, word] : Words<charts::HeatColumn>::table)
    if (column != charts::HeatColumn::samples) all.emplace_back(word);
  return all;
}

}  // namespace

void add_disasm(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "disasm", "Run an experiment and list its SASS, or its source lines, with what each did and costs");
  auto options = std::make_shared<DisasmOptions>();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  auto* by_line = command->add_flag("--by-line", options->by_line, "The lines of the source instead of instructions");
  command->add_option("--hot", options->hottest, "Hottest first, by this column; lines that have none are left out")
      ->check(CLI::IsMember(column_words()));
  auto* against = command
                      ->add_option("--against", options->against,
                                   "What changed in source and SASS since this preset; registers may differ")
                      ->type_name("FILE");
  auto* ptx = command->add_flag("--ptx", options->ptx, "The PTX instead");
  command->add_option("--launch", options->launch, "Of a program of several launches: which, from 1; else the longest")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  auto* json = command->add_flag("--json", options->json, "The listing as JSON");
  auto* banks = command
                    ->add_option("--banks", options->banks.line,
                                 "The accesses of this source line to shared memory: lanes by banks and by phase, as "
                                 "recorded, padded and swizzled")
                    ->type_name("LINE")
                    ->check(above_zero());
  command->add_option("--row", options->banks.row, "Bytes from one row in shared memory to the next, for --banks")
      ->type_name("BYTES")
      ->check(CLI::Range(16, 1 << 16))
      ->needs(banks);
  command
      ->add_option("--step", options->banks.step,
                   "Which of the recorded executions, for --banks; by default the first that takes most wavefronts")
      ->check(CLI::Range(size_t{1}, SharedSteps::kMost))
      ->needs(banks);
  auto* fragments = command
                        ->add_option("--fragments", options->fragments,
                                     "Which lane holds which element of the Tensor Core products and matrix loads of "
                                     "this source line")
                        ->type_name("LINE")
                        ->check(above_zero());
  command->add_option("--lane", options->lane, "The lane whose elements --fragments marks; by default 7")
      ->type_name("LANE")
      ->check(CLI::Range(0, 31))
      ->needs(fragments);
  auto* softmax = command
                      ->add_option("--softmax", options->softmax.row,
                                   "What the kernel's online softmax holds of this query row, key tile by key tile, "
                                   "read from the emulated machine")
                      ->type_name("ROW")
                      ->check(zero_or_more());
  // One listing at a time. Only the source lines are also available as JSON.
  const std::vector<CLI::Option*> listings{by_line, against, ptx, json, banks, fragments, softmax};
  for (size_t at = 0; at < listings.size(); ++at)
    for (size_t other = 0; other < at; ++other)
      if (listings[at] != json || listings[other] != by_line) listings[at]->excludes(listings[other]);
  command->add_option("--tile", options->tile, "For --softmax: also this tile's scores and O, from 1")
      ->check(above_zero())
      ->needs(softmax);
  for (const auto& [name, value] : {std::pair{"--head", &options->softmax.head}, {"--batch", &options->softmax.batch}})
    command->add_option(name, *value, "For --softmax: where the row is; by default 0")
        ->check(zero_or_more())
        ->needs(softmax);
  command->callback([options, &chosen] { chosen = [options] { return disasm(*options); }; });
}

}  // namespace attnscope::cli
