#include "platform/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "support/interruptions.h"

namespace attnscope::platform {
namespace {

using testing_support::Interruptions;

// Returns what `work` returns in a child, which may change its standard streams.
template <class Work>
int in_a_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(StandardStreams, TheClosedOnesAreHeldAndTheOpenOnesLeft) {
  EXPECT_EQ(in_a_child([] {
              for (int fd = 0; fd < 64; ++fd) close(fd);  // also what the test's caller left open
              hold_standard_streams();
              if (!is_open(0) || !is_open(1) || !is_open(2) || is_open(3)) return 1;
              char byte;
              if (read(0, &byte, 1) != 0) return 2;
              if (write(2, "x", 1) != 1) return 3;  // is lost
              return write_stdout("x") == EBADF ? 0 : 4;
            }),
            0);
  EXPECT_EQ(in_a_child([] {
              int ends[2];
              if (pipe(ends) != 0 || dup2(ends[1], 1) != 1) return 1;
              close(0);
              hold_standard_streams();
              if (write_stdout("x") != 0) return 2;
              char byte = 0;
              return read(ends[0], &byte, 1) == 1 && byte == 'x' ? 0 : 3;
            }),
            0);
}

TEST(StandardStreams, StdoutIsEndedOnceItWasWritten) {
  EXPECT_EQ(in_a_child([] {
              if (dup2(open("/dev/null", O_WRONLY), 1) != 1) return 1;
              if (close_stdout() != 0 || !is_open(1)) return 2;  // nothing was written, so it stays open
              if (write_stdout("x") != 0 || !is_open(1)) return 3;
              if (close_stdout() != 0 || is_open(1)) return 4;
              return close_stdout();
            }),
            0);
}

TEST(StandardStreams, AFullDiskIsTheAnswerFromThenOn) {
  EXPECT_EQ(in_a_child([] {
              if (dup2(open("/dev/full", O_WRONLY), 1) != 1) return 1;
              if (write_stdout("x") != ENOSPC) return 2;
              int ends[2];
              if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], 1) != 1) return 3;
              if (write_stdout("y") != ENOSPC) return 4;
              char byte;
              if (read(ends[0], &byte, 1) >= 0) return 5;  // nothing is written after a loss
              return close_stdout() == ENOSPC ? 0 : 6;
            }),
            0);
}

// The child writes far more than a pipe holds; its parent reads only after the write was interrupted.
std::string written_through_a_pipe(int flags) {
  int data[2], ready[2];
  if (pipe(data) != 0 || pipe(ready) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    if (dup2(data[1], 1) != 1) _exit(1);
    fcntl(1, F_SETFL, fcntl(1, F_GETFL) | flags);
    const Interruptions interruptions;
    std::thread([&] {
      const testing_support::WithoutInterruptions here;
      Interruptions::wait_for(20);
      (void)!write(ready[1], "r", 1);
    }).detach();
    const int failed = write_stdout(std::string(300'000, 'a') + "end");
    _exit(failed == 0 ? close_stdout() : failed);
  }
  close(data[1]);
  char byte;
  std::string got;
  if (read(ready[0], &byte, 1) == 1) {
    char bytes[4096];
    for (ssize_t n; (n = read(data[0], bytes, sizeof bytes)) > 0;) got.append(bytes, static_cast<size_t>(n));
  }
  int status = -1;
  waitpid(child, &status, 0);
  for (const int fd : {data[0], ready[0], ready[1]}) close(fd);
  return status == 0 ? got : "ended with " + std::to_string(status);
}

TEST(StandardStreams, AllIsWrittenThoughSignalsInterruptIt) {
  EXPECT_EQ(written_through_a_pipe(0), std::string(300'000, 'a') + "end");
}

TEST(StandardStreams, AllIsWrittenThoughStdoutDoesNotWait) {
  EXPECT_EQ(written_through_a_pipe(O_NONBLOCK), std::string(300'000, 'a') + "end");
}

TEST(StandardStreams, OnlyATerminalThatChangesNothingIsRaw) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal) | unlockpt(terminal), 0);
  const int user = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(user, 0);
  EXPECT_FALSE(is_raw_terminal(user)) << "a line end becomes two bytes";
  termios state{};
  tcgetattr(user, &state);
  state.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  tcsetattr(user, TCSANOW, &state);
  EXPECT_TRUE(is_raw_terminal(user));
  close(user);
  close(terminal);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(is_raw_terminal(ends[1])) << "no terminal";
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace attnscope::platform
