#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/exit_status.h"
#include "core/escape.h"
#include "core/json.h"
#include "emulator/isa/report.h"

namespace attnscope::cli {
namespace {

// Success means that this program's own worker answers and there is a compiler.
int doctor_status(const std::vector<Checkup>& checkups) {
  const auto is_found = [&](const char* name) {
    return std::any_of(checkups.begin(), checkups.end(), [&](const Checkup& checkup) {
      return checkup.name == name && checkup.state == Checkup::State::found;
    });
  };
  return is_found("NVRTC") && is_found("worker local") ? kCorrectOrUnchecked : kRefused;
}

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("doctor",
                                         "Say what this machine has and lacks, what each missing part costs and how to "
                                         "get it; status 3 if nothing can run");
  auto as_json = std::make_shared<bool>(false);
  auto seconds = std::make_shared<int>(20);
  auto isa = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON");
  command
      ->add_flag("--isa", *isa, "Which opcode forms the emulator executes, and the evidence for each; examines nothing")
      ->excludes("--json");
  command->add_option("--wait", *seconds, "How long to wait for the workers that the settings name")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 24 * 3600));
  command->callback([=, &chosen] {
    chosen = [=]() -> int {
      if (*isa) {
        print_result(emulator::isa_report());
        return kCorrectOrUnchecked;
      }
      std::vector<Checkup> all = examine_machine();
      const std::vector<Checkup> workers = examine_workers(*seconds);
      all.insert(all.end(), workers.begin(), workers.end());
      print_result(*as_json ? json_text(json_of(all), 2) : text_of(all));
      return doctor_status(all);
    };
  });
}

}  // namespace attnscope::cli
