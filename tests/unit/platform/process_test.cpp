#include "platform/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

std::string read_all(int fd) {
  std::string out;
  char buffer[256];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(got));
  return out;
}

void release(const ChildProcess& child) {
  close(child.stdin_fd);
  close(child.stdout_fd);
  waitpid(child.pid, nullptr, 0);
}

TEST(Process, PipesReachTheChildAndBack) {
  auto child = spawn_piped({"cat"});
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_EQ(write(child->stdin_fd, "hello", 5), 5);
  close(child->stdin_fd);
  EXPECT_EQ(read_all(child->stdout_fd), "hello");
  close(child->stdout_fd);
  int status = 0;
  waitpid(child->pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
}

TEST(Process, AMissingProgramIsNamed) {
  auto child = spawn_piped({"attnscope-no-such-program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().stage, Stage::device);
  EXPECT_NE(child.error().message.find("attnscope-no-such-program"), std::string::npos);
  EXPECT_FALSE(spawn_piped({}));
}

TEST(Process, AChildLeadsAGroupOfItsOwn) {
  const auto child = spawn_piped({"cat"});
  ASSERT_TRUE(child);
  EXPECT_EQ(getpgid(child->pid), child->pid);
  EXPECT_EQ(fcntl(child->stdin_fd, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(child->stdout_fd, F_GETFD), FD_CLOEXEC);
  release(*child);
}

TEST(Process, EndingAGroupReachesGrandchildren) {
  // The shell's child holds the other end of the pipe, so the end of the pipe means that the grandchild has ended too.
  auto child = spawn_piped({"sh", "-c", "sleep 1000 & echo started; wait"});
  ASSERT_TRUE(child);
  char line[8];
  ASSERT_EQ(read(child->stdout_fd, line, sizeof line), 8);
  end_group(child->pid);
  EXPECT_EQ(read_all(child->stdout_fd), "");
  release(*child);
}

TEST(Process, DyingWithTheParent) {
  // A grandchild asks to die with its parent; it holds the pipe, so the end of the pipe shows its death.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t middle = fork();
  if (middle == 0) {
    const pid_t self = getpid();
    if (fork() == 0) {
      if (!die_with_parent(self)) _exit(0);
      if (write(ends[1], "r", 1) != 1) _exit(1);
      for (;;) pause();
    }
    for (;;) pause();
  }
  close(ends[1]);
  char ready;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  kill(middle, SIGKILL);
  EXPECT_EQ(read(ends[0], &ready, 1), 0);
  waitpid(middle, nullptr, 0);
  close(ends[0]);
}

TEST(Process, AnOrphanIsReported) {
  const pid_t child = fork();
  if (child == 0) _exit(die_with_parent(1 << 22) ? 1 : 0);  // our parent never has that pid
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Returns what `work` returns in a child, which may change its signals.
template <class Work>
int in_a_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Process, ASignalThatWeIgnoreEndsTheProgram) {
  EXPECT_EQ(in_a_child([] {
              ignore_write_signals();
              raise(SIGPIPE);
              raise(SIGXFSZ);
              for (const char* script : {"kill -PIPE $$; echo alive", "kill -XFSZ $$; echo alive"}) {
                auto child = spawn_piped({"sh", "-c", script});
                if (!child || !read_all(child->stdout_fd).empty()) return 1;
                release(*child);
              }
              return 0;
            }),
            0);
}

TEST(Process, ASignalThatWeBlockReachesTheProgram) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  auto child = spawn_piped({"sh", "-c", "kill -TERM $$; echo still here"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(read_all(child->stdout_fd), "");
  release(*child);
}

TEST(Process, OrphansBelowAreFoundAndEnded) {
  EXPECT_EQ(in_a_child([] {
              adopt_orphans();
              // The shell starts two processes in their own sessions, and exits.
              auto shell = spawn_piped({"sh", "-c", "setsid sleep 1000 & setsid sleep 1000 & echo started"});
              auto own = spawn_piped({"cat"});
              char line[8];
              if (!shell || !own || read(shell->stdout_fd, line, sizeof line) != 8) return 1;
              waitpid(shell->pid, nullptr, 0);
              const pid_t kept[] = {own->pid};
              size_t found = 0;
              for (size_t more; (more = end_strays(kept)) != 0;) found += more;
              if (found < 2) return 2;
              if (!read_all(shell->stdout_fd).empty()) return 3;  // both have ended: the pipe has no other end
              if (write(own->stdin_fd, "own", 3) != 3 || read(own->stdout_fd, line, sizeof line) != 3) return 4;
              if (end_strays({}) != 1) return 5;
              return 0;
            }),
            0);
}

// A folder that stands for /proc: process 7 with two threads, and three others, of which two are its children.
void write_proc(const testing_support::TempDir& proc, bool lists_children) {
  proc.write("7/stat", "7 (attnscope) S 1 7 7 0\n");
  proc.write("7/task/7/comm", "attnscope\n");
  proc.write("7/task/8/comm", "compiler\n");
  if (lists_children) proc.write("7/task/7/children", "70 ");
  if (lists_children) proc.write("7/task/8/children", "71 ");
  proc.write("70/stat", "70 (a) S 1 () S 7 70 70 0\n");  // a name may hold what ends a name
  proc.write("71/stat", "71 (cat) S 7 71 71 0\n");
  proc.write("72/stat", "72 (cat) S 70 72 72 0\n");
  proc.write("uptime", "7 (no process) S 7\n");
}

TEST(Process, ChildrenAreTheSameWhetherTheKernelListsThemOrNot) {
  for (const bool lists_children : {true, false}) {
    const testing_support::TempDir proc;
    write_proc(proc, lists_children);
    EXPECT_THAT(children_of(7, proc.path()), testing::UnorderedElementsAre(70, 71)) << lists_children;
    EXPECT_THAT(children_of(72, proc.path()), testing::IsEmpty()) << lists_children;
  }
}

TEST(Process, LeavingIsByTheSignalItself) {
  const int status = in_a_child([]() -> int {
    signal(SIGTERM, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    leave_by(SIGTERM);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(Process, ASignalThatOurParentIgnoresIsIgnored) {
  EXPECT_EQ(in_a_child([] {
              for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_DFL);
              if (leaving_signals() != std::vector<int>{SIGTERM, SIGINT, SIGHUP}) return 1;
              signal(SIGHUP, SIG_IGN);  // like nohup
              return leaving_signals() == std::vector<int>{SIGTERM, SIGINT} ? 0 : 2;
            }),
            0);
}

TEST(Process, WithoutDescriptorsNoneIsStarted) {
  EXPECT_EQ(in_a_child([] {
              const int lowest = open("/dev/null", O_RDONLY);
              const rlimit none{static_cast<rlim_t>(lowest), static_cast<rlim_t>(lowest)};
              if (lowest < 0 || close(lowest) != 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
              const auto child = spawn_piped({"cat"});
              if (child) return 2;
              return child.error().message == "cat: no pipe: Too many open files" ? 0 : 3;
            }),
            0);
}

TEST(Process, NoThreadIsARefusalThatNamesTheWork) {
  const Failure failure = no_thread("the map");
  EXPECT_EQ(failure.stage, Stage::limits);
  EXPECT_EQ(failure.message, "the system refuses a thread for the map");
}

TEST(Process, AThreadOfLowPriorityRunsInBatches) {
  std::thread([] {
    lower_thread_priority(5);
    EXPECT_EQ(nice(0), 5);
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

TEST(Process, LowPriorityIsOnlyTheThreads) {
  errno = 0;
  const int before = nice(0);
  std::thread([] {
    lower_thread_priority();
    EXPECT_EQ(nice(0), 19);
  }).join();
  EXPECT_EQ(nice(0), before);
}

}  // namespace
}  // namespace attnscope::platform
