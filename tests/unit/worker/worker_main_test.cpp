// The exit statuses and messages of the worker's processes when they cannot start.
#include "worker/worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "support/temp_dir.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

struct Ended {
  int status = -1;
  std::string said;  // on stderr
};

// Runs in a process of its own; `prepare` takes away what it lacks.
Ended run(int (*main)(), const std::function<void()>& prepare) {
  const testing_support::TempDir folder;
  const auto err = folder.write("err", "");
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0) _exit(99);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);  // at end of input from the start
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
    setenv("ATTNSCOPE_HOME", folder.path().c_str(), 1);
    prepare();
    _exit(main());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), testing_support::read_text(err)};
}

int main_of_executor() { return executor_main(Purpose::run); }
int main_of_supervisor() { return supervisor_main(Purpose::run); }

void without_home() {
  for (const char* name : {"ATTNSCOPE_HOME", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
    unsetenv(name);
}

TEST(WorkerMain, WithoutAHomeExecutorAndJudgeSayWhatToSet) {
  for (int (*main)() : {main_of_executor, judge_main}) {
    const Ended ended = run(main, without_home);
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.said,
                testing::StartsWith("attnscope worker: neither $HOME nor $XDG_CACHE_HOME names a folder\n"));
    EXPECT_THAT(ended.said, HasSubstr("Set HOME"));
  }
}

TEST(WorkerMain, AnExecutorWithoutItsFilesSaysSo) {
  const Ended ended = run(main_of_executor, [] { setenv("ATTNSCOPE_RESOURCES", "/nowhere", 1); });
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.said, HasSubstr("attnscope worker: ATTNSCOPE_RESOURCES=/nowhere has no kernels/"));
}

TEST(WorkerMain, WithoutAStreamExecutorAndJudgeDoNotBegin) {
  for (int (*main)() : {main_of_executor, judge_main})
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO})
      EXPECT_EQ(run(main, [stream] { close(stream); }).status, 3) << "stream " << stream;
}

TEST(WorkerMain, AJudgeEndsWithItsInput) {
  const Ended ended = run(judge_main, [] {});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.said, "");
}

TEST(WorkerMain, ASupervisorThatIsStartedByHandSaysWhoStartsIt) {
  const std::function<void()> kLacks[] = {[] {},  // stdout is not a pipe
                                          [] { close(STDIN_FILENO); }};
  for (const auto& prepare : kLacks) {
    const Ended ended = run(main_of_supervisor, prepare);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.said, HasSubstr("stdin and stdout are not connected to a window or session\n"));
    EXPECT_THAT(ended.said, HasSubstr("attnscope --worker \"ssh HOST attnscope worker\""));
  }
}

// A supervisor with both its pipes, in a process of its own; `number` 0: its input ends. As waitpid() says it.
int end_of_served(int number) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return -1;
  const testing_support::TempDir home;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);                                 // for one that never ends
    if (number != 0) signal(number, SIG_DFL);  // a shell leaves SIGINT ignored in what it starts behind itself
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
    setenv("ATTNSCOPE_HOME", home.path().c_str(), 1);
    setenv("GTEST_FILTER", "none.none", 1);  // its executor is this program, and must run no test
    _exit(supervisor_main(Purpose::run));
  }
  close(in[0]);
  close(out[1]);
  char letter = 0;
  while (read(out[0], &letter, 1) == 1 && letter != '\n') continue;  // its banner: it serves
  if (number != 0) kill(child, number);
  if (number == 0) close(in[1]);
  int status = 0;
  waitpid(child, &status, 0);
  if (number != 0) close(in[1]);
  close(out[0]);
  return status;
}

TEST(WorkerMain, ASupervisorEndsByTheSignalThatItGot) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const int status = end_of_served(number);
    EXPECT_TRUE(WIFSIGNALED(status)) << number << ": exit status " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), number);
  }
}

TEST(WorkerMain, ASupervisorEndsWellWithItsInput) {
  const int status = end_of_served(0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace attnscope::worker
