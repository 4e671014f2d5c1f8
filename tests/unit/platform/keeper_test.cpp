#include "platform/keeper.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "platform/process.h"
#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

// A worker under a keeper that leaves a process in another session.
class Keeper : public testing::Test {
 protected:
  struct Told {
    pid_t worker = 0, stray = 0;
  };

  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    keeper = fork();
    if (keeper == 0) {
      close(ends[0]);
      const auto status = work_under_keeper();
      _exit(status ? *status : work(ends[1]));
    }
    close(ends[1]);
    // The keeper also holds the pipe, so read() may not wait for the pipe's end; the answer arrives in one piece.
    ASSERT_EQ(read(ends[0], &told, sizeof told), ssize_t{sizeof told});
    close(ends[0]);
    ASSERT_TRUE(alive(told.worker) && alive(told.stray));
    ASSERT_NE(told.worker, keeper);
  }
  void TearDown() override {
    for (const pid_t one : {told.worker, told.stray})
      if (one > 1) kill(one, SIGKILL);
  }

  // The worker: adopts its child's orphans, and ends them when it is asked to leave.
  static int work(int out) {
    adopt_orphans();
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    sigprocmask(SIG_BLOCK, &asked, nullptr);
    Told told{getpid(), 0};
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      const pid_t stray = fork();
      if (stray == 0) {
        setsid();
        for (;;) pause();
      }
      (void)!write(ends[1], &stray, sizeof stray);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    if (read(ends[0], &told.stray, sizeof told.stray) != ssize_t{sizeof told.stray}) return 2;
    if (write(out, &told, sizeof told) != ssize_t{sizeof told}) return 3;
    int number = 0;
    sigwait(&asked, &number);
    while (end_strays({}) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 7;
  }

  // A process that has ended but is not reaped by its new parent is no longer alive.
  static bool alive(pid_t pid) {
    const std::string stat = testing_support::read_text("/proc/" + std::to_string(pid) + "/stat");
    const size_t after = stat.rfind(") ");
    return after != std::string::npos && stat[after + 2] != 'Z' && stat[after + 2] != 'X';
  }
  static void expect_end_of(pid_t pid, const char* what) {
    for (int look = 0; look < 30000 && alive(pid); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_FALSE(alive(pid)) << what;
  }
  int how_the_keeper_ended() const {
    int status = 0;
    EXPECT_EQ(waitpid(keeper, &status, 0), keeper);
    return status;
  }

  pid_t keeper = 0;
  Told told;
};

TEST_F(Keeper, EndsWhatAKilledWorkerLeft) {
  const auto asked = std::chrono::steady_clock::now();
  kill(told.worker, SIGKILL);
  const int status = how_the_keeper_ended();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(30)) << "it looks again";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_FALSE(alive(told.stray)) << "it ends that before itself";
}

TEST_F(Keeper, ThatIsKilledHasItsWorkerEndTheRest) {
  kill(keeper, SIGKILL);
  how_the_keeper_ended();
  expect_end_of(told.worker, "the worker");
  expect_end_of(told.stray, "the stray");
}

TEST_F(Keeper, HandsOnTheRequestToLeaveAndTheStatus) {
  kill(keeper, SIGTERM);
  const int status = how_the_keeper_ended();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_FALSE(alive(told.stray));
}

}  // namespace
}  // namespace attnscope::platform
