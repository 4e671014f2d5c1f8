// `attnscope watch-file`: runs a kernel again whenever its file is saved, and prints the changes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/findings.h"
#include "cli/given_file.h"
#include "cli/one_run.h"
#include "cli/run_changes.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/output_file.h"
#include "platform/termination.h"

namespace attnscope::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenReads{100};

struct WatchFileOptions {
  GivenFile given;
  OneRun run;
  std::string watch = "sample", sarif;
  int runs = 0;  // 0: until it is ended
};

class FileWatcher {
 public:
  explicit FileWatcher(const WatchFileOptions& options) : options_(options) {}

  // Returns the exit status of the last run.
  int all() {
    if (!options_.sarif.empty())
      if (auto possible = platform::check_output(options_.sarif); !possible) return report(possible.error());
    const platform::OnTermination asked([this] { ended_ = true; });
    int status = kCorrectOrUnchecked;
    for (int number = 1;; ++number) {
      // Taken before the run, so that a save during the run starts another.
      text_ = text_of(options_.given);
      const std::optional<int> now = run(number);
      if (!now) break;
      status = *now;
      if (number == options_.runs) break;
      if (!wait()) break;
    }
    return status;
  }

 private:
  // Empty: it was ended before the run was. A run that was reported counts even if the end comes at the same time.
  std::optional<int> run(int number) {
    auto named = named_by(options_.given, options_.run.experiment, options_.run.deadline_ms);
    if (!named) return report(named.error());
    OneRun one = options_.run;
    one.experiment = named->options;
    one.watch = options_.watch == kWatchAll ? session::Watch::whole_grid : session::Watch::always;
    one.stop = &ended_;
    auto ran = run_one(one);
    if (ended_) return std::nullopt;
    if (!ran) return report(ran.error());
    const Observation& o = ran->observation;
    const SourceFile source = source_of(options_.given, *named, ran->kernel);
    std::string out = fmt::format("run {}: {}\n", number, summary_of(o, source));
    if (std::string guesses = of_file_text(named->kernel); guesses != guesses_) {
      out += guesses;
      guesses_ = std::move(guesses);
    }
    if (before_)
      out += changes_of(*before_, o, source);
    else
      for (const Located& finding : located(o, source)) out += one_line(line_of(finding)) + "\n";
    print_result(out);
    if (o.failure && !o.failure->hint.empty()) print_note("  " + o.failure->hint);
    before_ = o;
    if (!options_.sarif.empty())
      if (auto done = platform::write_output(options_.sarif, json_text(sarif_of(o, source), 2) + "\n"); !done)
        return report(done.error());
    return status_of(o);
  }

  // Waits for a new text that an editor has finished writing. Returns false if the command is to end.
  bool wait() const {
    std::string last = text_;
    while (!ended_) {
      std::this_thread::sleep_for(kBetweenReads);
      std::string now = text_of(options_.given);
      if (!now.empty() && now != text_ && now == last) return true;
      last = std::move(now);
    }
    return false;
  }

  const WatchFileOptions& options_;
  std::atomic<bool> ended_{false};
  std::string text_;     // of the file at the last run
  std::string guesses_;  // of its import, as last printed
  std::optional<Observation> before_;
};

int watch_file(const WatchFileOptions& options) {
  if (options.given.file.empty())
    return report({Stage::input, "watch-file needs a file", "Write attnscope watch-file FILE.cu."});
  return FileWatcher(options).all();
}

}  // namespace

void add_watch_file(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("watch-file", "Run a .cu file again at every save and say what changed");
  auto options = std::make_shared<WatchFileOptions>();
  add_file_options(*command, options->given);
  add_experiment_options(*command, options->run.experiment);
  add_worker_options(*command, options->run.workers);
  add_deadline_option(*command, options->run);
  add_watch_option(*command, options->watch, "--watch=all: watch every CTA, not only eight");
  command->add_option("--sarif", options->sarif, "Write each run's findings as SARIF 2.1.0 too")->type_name("FILE");
  command->add_option("--runs", options->runs, "End after this many runs; else at Ctrl+C")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->callback([options, &chosen] { chosen = [options] { return watch_file(*options); }; });
}

}  // namespace attnscope::cli
