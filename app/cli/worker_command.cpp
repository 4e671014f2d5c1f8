#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "worker/worker.h"

namespace attnscope::cli {

void add_worker(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("worker", "Compile and run for a window or session at the other end of stdin and stdout");
  auto executor = std::make_shared<bool>(false);
  // The supervisor starts its own executors with this, so it is hidden from --help.
  command->add_flag("--executor", *executor)->group("");
  // A library's worker starts this to make inputs and verdicts.
  auto judge = std::make_shared<bool>(false);
  command->add_flag("--judge", *judge)->group("");
  // `attnscope import` starts this to learn what a kernel accesses.
  auto touches = std::make_shared<std::string>();
  command->add_option(worker::kTouchesOption, *touches)->group("");
  auto profile = std::make_shared<bool>(false);
  command->add_flag(worker::kProfileFlag, *profile,
                    "Read a GPU's hardware counters and time nothing on it, as `attnscope counters` asks");
  command->callback([executor, judge, touches, profile, &chosen] {
    chosen = [executor, judge, touches, profile] {
      if (*judge) return worker::judge_main();
      if (!touches->empty()) return worker::touches_main(*touches);
      const auto purpose = *profile ? worker::Purpose::profile : worker::Purpose::run;
      return *executor ? worker::executor_main(purpose) : worker::supervisor_main(purpose);
    };
  });
}

}  // namespace attnscope::cli
