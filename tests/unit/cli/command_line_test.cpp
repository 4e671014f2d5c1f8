// What stands before a subcommand, and a word that is no subcommand.
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;

struct Parsed {
  CLI::App app{"", "attnscope"};
  Chosen chosen;
  explicit Parsed(const std::string& line) {
    app.require_subcommand(0, 1);
    for (const auto add : kCommands) add(app, chosen);
    app.parse(line);
  }
};

Failure refused(const std::string& line) {
  const Parsed parsed(line);
  const auto checked = check_nothing_before_subcommand(parsed.app);
  EXPECT_FALSE(checked) << line;
  return checked ? Failure{} : checked.error();
}

TEST(CommandLine, WhatStandsBeforeASubcommandIsRefused) {
  const Failure preset = refused("presets/mma.json run");
  EXPECT_EQ(preset.stage, Stage::input);
  EXPECT_EQ(preset.message, "presets/mma.json: what stands before run is for the window");
  EXPECT_EQ(preset.hint, "Write it behind the subcommand: attnscope run presets/mma.json");
  EXPECT_THAT(refused("'a b.json' disasm").hint, HasSubstr(": attnscope disasm --preset 'a b.json'"));
  EXPECT_EQ(refused("nosuch.json presets").hint, "presets does not take it: leave it out.");
  const Failure worker = refused("--worker nosuch devices");
  EXPECT_EQ(worker.message, "--worker nosuch: what stands before devices is for the window");
  EXPECT_THAT(worker.hint, HasSubstr(": attnscope devices --worker nosuch"));
}

TEST(CommandLine, WhatStandsBehindItIsTaken) {
  for (const char* line : {"", "presets/mma.json", "--worker l4", "run presets/mma.json", "devices --worker l4"})
    EXPECT_TRUE(check_nothing_before_subcommand(Parsed(line).app)) << line;
}

TEST(CommandLine, AWordThatIsNoFileMayBeAMistypedSubcommand) {
  const Parsed none("");
  const auto word = check_file_or_command(none.app, "devics");
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().stage, Stage::input);
  EXPECT_EQ(word.error().message, "there is no file or subcommand devics");
  EXPECT_THAT(word.error().hint, HasSubstr("Did you mean devices? Known: run, "));
  const auto file = check_file_or_command(none.app, "nosuchfile.json");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "there is no file nosuchfile.json");
  const testing_support::TempDir folder;
  EXPECT_TRUE(check_file_or_command(none.app, folder.write("mine.json", "{}").string()));
  EXPECT_TRUE(check_file_or_command(none.app, ""));
}

// What is refused before anything is compiled or runs. The program of these tests is no worker, so whatever ran would
// be refused for that.
struct Door {
  std::string line;
  int status;
  std::string says;
};

class AtTheDoor : public testing::TestWithParam<Door> {};

TEST_P(AtTheDoor, IsRefused) {
  const testing_support::TempDir home;
  const testing_support::Variable named_home("ATTNSCOPE_HOME", home.path());
  const Parsed parsed(GetParam().line);
  testing::internal::CaptureStderr();
  const int status = parsed.chosen();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, GetParam().status) << said;
  EXPECT_THAT(said, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(All, AtTheDoor,
                         testing::Values(Door{"counters --kernel tiled --device emulated:l4", kRefused,
                                              "emulated:l4 has no hardware counters"},
                                         Door{"disasm --kernel tiled --launch 2", kBadInput, "tiled has no launch 2"},
                                         Door{"devics", kBadInput, "Did you mean devices?"}));

}  // namespace
}  // namespace attnscope::cli
