#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "support/temp_dir.h"

namespace attnscope::cli {
namespace {

struct Ended {
  int status = 0;  // the exit status; a signal's number, negative
  std::string out, err;
};

// run_program() in a process of its own, with its streams in files; `out` names another place for stdout.
template <class Program>
Ended run(Program program, const char* out = nullptr) {
  const testing_support::TempDir folder;
  const auto out_file = folder.write("out", ""), err_file = folder.write("err", "");
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out ? out : out_file.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    dup2(open(err_file.c_str(), O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    _exit(run_program(program));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), testing_support::read_text(out_file),
          testing_support::read_text(err_file)};
}

const std::string kBug = "\n  This is a bug in attnscope; report it.\n";

TEST(Program, ItsResultIsOnStdoutAndItsStatusIsItsOwn) {
  for (const int status : {0, 1, 2, 3, 4}) {
    const Ended ended = run([&] {
      print_result("the result");
      return status;
    });
    EXPECT_EQ(ended.status, status);
    EXPECT_EQ(ended.out, "the result\n");
    EXPECT_EQ(ended.err, "");
  }
}

// Everything that is not plain ASCII becomes a question mark, wherever in the text it stands.
TEST(Program, AnExceptionIsToldInPlainText) {
  const std::pair<const char*, const char*> kTexts[] = {{"", ""},
                                                        {"plain ~ text!", "plain ~ text!"},
                                                        {"\x1b[2Jx", "?[2Jx"},
                                                        {"x\n", "x?"},
                                                        {"\n", "?"},
                                                        {"a\tb\x7f"
                                                         "c",
                                                         "a?b?c"},
                                                        {"\xc3\xa9", "??"},
                                                        {"\n\nab\n\ncd", "??ab??cd"}};
  for (const auto& [text, told] : kTexts) {
    const Ended ended = run([text = text]() -> int { throw std::runtime_error(text); });
    EXPECT_EQ(ended.status, kEnded);
    EXPECT_EQ(ended.err, std::string("attnscope: internal: ") + told + kBug);
    EXPECT_EQ(ended.out, "");
  }
}

TEST(Program, AnUnknownExceptionIsToldToo) {
  const Ended ended = run([]() -> int { throw 7; });
  EXPECT_EQ(ended.status, kEnded);
  EXPECT_EQ(ended.err, "attnscope: internal: an unknown exception" + kBug);
}

TEST(Program, TooLittleMemoryIsARefusalAndNoBug) {
  const std::string told = "attnscope: there is not enough memory for this\n  Ask for something smaller.\n";
  for (const Ended& ended : {run([]() -> int { throw std::bad_alloc(); }), run([]() -> int {
                               std::thread([] { throw std::bad_alloc(); }).join();
                               return 0;
                             })}) {
    EXPECT_EQ(ended.status, kRefused);
    EXPECT_EQ(ended.err, told);
  }
}

TEST(Program, AnExceptionThatLeavesAThreadIsTold) {
  const Ended ended = run([] {
    std::thread([] { throw std::runtime_error("of a thread"); }).join();
    return 0;
  });
  EXPECT_EQ(ended.status, kEnded);
  EXPECT_EQ(ended.err, "attnscope: internal: of a thread" + kBug);
  const Ended terminated = run([]() -> int { std::terminate(); });
  EXPECT_EQ(terminated.status, kEnded);
  EXPECT_EQ(terminated.err, "attnscope: internal: ended by std::terminate" + kBug);
}

TEST(Program, AResultThatStdoutDidNotTakeIsAFailure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "this system has no /dev/full";
  for (const auto& [status, said] : {std::pair{0, 3}, {1, 3}, {3, 3}, {4, 4}}) {
    const Ended ended = run(
        [status = status] {
          print_result("the result");
          return status;
        },
        "/dev/full");
    EXPECT_EQ(ended.status, said);
    EXPECT_EQ(ended.err, "attnscope: store: stdout did not take the whole result: No space left on device\n");
  }
}

TEST(Program, AReaderThatGoesAwayEndsItWithAStatusAndNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Ended ended = run([&] {
    dup2(ends[1], STDOUT_FILENO);
    print_result("the result");
    return 0;
  });
  close(ends[1]);
  EXPECT_EQ(ended.status, kRefused);
  EXPECT_NE(ended.err.find("Broken pipe"), std::string::npos) << ended.err;
}

TEST(ExitStatus, EachStageHasItsOwn) {
  for (const Stage stage : {Stage::input, Stage::catalog, Stage::store}) EXPECT_EQ(status_of({stage, "", ""}), 2);
  for (const Stage stage : {Stage::compile, Stage::limits, Stage::device, Stage::decode, Stage::check})
    EXPECT_EQ(status_of({stage, "", ""}), 3) << to_string(stage);
  for (const Stage stage :
       {Stage::launch, Stage::deadline, Stage::crash, Stage::cancelled, Stage::protocol, Stage::internal})
    EXPECT_EQ(status_of({stage, "", ""}), 4) << to_string(stage);
}

TEST(ExitStatus, OfARunItsFailureCountsFirstThenItsVerdictAndItsWatch) {
  Observation o;
  EXPECT_EQ(status_of(o), 0);
  o.verdict.emplace().state = VerdictState::unchecked;
  EXPECT_EQ(status_of(o), 0);
  o.verdict->state = VerdictState::correct;
  o.watch.emplace();
  EXPECT_EQ(status_of(o), 0);
  Finding& finding = o.watch->findings.emplace_back();
  finding.rule = RuleId::race_shared;
  finding.severity = Severity::error;
  EXPECT_EQ(status_of(o), 1);
  o.watch.reset();
  o.verdict->state = VerdictState::wrong;
  EXPECT_EQ(status_of(o), 1);
  o.failure = Failure{Stage::limits, "", ""};
  EXPECT_EQ(status_of(o), 3);
}

TEST(ExitStatus, AReportIsMessageAndIndentedHint) {
  const auto said = [](const Failure& failure, int status) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(report(failure), status);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({Stage::input, "the message", "the hint"}, 2), "attnscope: input: the message\n  the hint\n");
  EXPECT_EQ(said({Stage::crash, "the message", ""}, 4), "attnscope: crash: the message\n");
}

}  // namespace
}  // namespace attnscope::cli
