#include "platform/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>

#include "platform/run_tool.h"
#include "support/no_threads.h"
#include "support/temp_dir.h"
#include "support/walls.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

using testing_support::try_open;
using testing_support::try_socket;

// errno; 0 on success.
int try_connect(int fd) {
  sockaddr_in nowhere{};
  nowhere.sin_family = AF_INET;
  nowhere.sin_port = htons(9);
  nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd, reinterpret_cast<const sockaddr*>(&nowhere), sizeof nowhere) == 0 ? 0 : errno;
}

class Confine : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock_version() == 0) GTEST_SKIP() << "this system has no landlock";
  }
  testing_support::TempDir folder;
  const fs::path secret = folder.write("secret/word", "x"), shown = folder.write("shown/word", "x");
};

TEST_F(Confine, FromInsideOpenAndConnectAreRefused) {
  const int outside = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(outside, 0);
  int opened = 0, written = 0, made = 0, removed = 0, allowed = -1, sockets = 0, locals = 0, connected = 0;
  Walls walls;
  on_confined_thread({{folder / "shown"}, {}, Sockets::none}, [&](Walls standing) {
    walls = standing;
    opened = try_open(secret);
    written = try_open(shown, O_WRONLY);
    made = try_open(folder / "shown" / "new", O_WRONLY | O_CREAT);
    removed = unlink(shown.c_str()) == 0 ? 0 : errno;
    allowed = try_open(shown);
    sockets = try_socket(AF_INET);
    locals = try_socket(AF_UNIX);
    connected = try_connect(outside);
  });
  EXPECT_TRUE(walls.files);
  EXPECT_TRUE(walls.sockets);
  EXPECT_EQ(opened, EACCES);
  EXPECT_EQ(written, EACCES);
  EXPECT_EQ(made, EACCES);
  EXPECT_EQ(removed, EACCES);
  EXPECT_EQ(allowed, 0);
  EXPECT_EQ(sockets, EACCES);
  EXPECT_EQ(locals, EACCES);
  EXPECT_EQ(connected, EACCES);
  // The calling thread is as free as before.
  EXPECT_EQ(try_open(secret), 0);
  EXPECT_EQ(try_socket(AF_INET), 0);
  EXPECT_EQ(try_connect(outside), ECONNREFUSED);
  close(outside);
}

TEST_F(Confine, WritesStayInTheirFolder) {
  int inside = -1, beside = 0;
  on_confined_thread({{}, {folder / "shown"}, Sockets::none}, [&](Walls) {
    inside = try_open(folder / "shown" / "new", O_WRONLY | O_CREAT);
    if (inside == 0) inside = rename((folder / "shown" / "new").c_str(), shown.c_str()) == 0 ? 0 : errno;
    beside = try_open(folder / "secret" / "new", O_WRONLY | O_CREAT);
  });
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(beside, EACCES);
}

TEST_F(Confine, LocalSocketsOnly) {
  int internet = 0, local = -1;
  on_confined_thread({{}, {}, Sockets::local}, [&](Walls) {
    internet = try_socket(AF_INET6);
    local = try_socket(AF_UNIX);
  });
  EXPECT_EQ(internet, EACCES);
  EXPECT_EQ(local, 0);
}

TEST_F(Confine, AProgramStartedFromInsideIsConfinedToo) {
  Result<ToolOutput> output;
  on_confined_thread({program_files(), {}, Sockets::none}, [&](Walls) {
    output = run_tool({"/bin/cat", {secret.string()}, {}, 20000, 1 << 20, {}});
  });
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "");
  EXPECT_NE(output->err.find("Permission denied"), std::string::npos) << output->err;
}

TEST_F(Confine, TheSwitchTakesTheWallsAway) {
  setenv("ATTNSCOPE_CONFINE", "off", 1);
  int opened = -1;
  Walls walls{true, true};
  on_confined_thread({}, [&](Walls standing) {
    walls = standing;
    opened = try_open(secret);
  });
  unsetenv("ATTNSCOPE_CONFINE");
  EXPECT_FALSE(walls.files);
  EXPECT_FALSE(walls.sockets);
  EXPECT_EQ(opened, 0);
}

TEST_F(Confine, AnExceptionComesBackToWhoAsked) {
  EXPECT_THROW(on_confined_thread({}, [](Walls) { throw std::runtime_error("x"); }), std::runtime_error);
}

TEST(ConfineProcess, WithoutAThreadTheWorkIsRefused) {
  if (!testing_support::threads_can_be_refused()) GTEST_SKIP() << "this system does not hold RLIMIT_NPROC";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        testing_support::refuse_threads();
        bool worked = false;
        const auto ran = on_confined_thread({}, [&](Walls) { worked = true; });
        _exit(!worked && !ran && ran.error().stage == Stage::limits ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// In a child: these limits hold for the whole process and cannot be undone.
TEST(ConfineProcess, NoCoreFileAndAFileSizeThatEnds) {
  const pid_t child = fork();
  if (child == 0) {
    limit_process(1 << 20);
    go_first_when_memory_runs_out();
    rlimit core{}, file{};
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_FSIZE, &file);
    const bool held = core.rlim_cur == 0 && file.rlim_cur == 1 << 20 &&
                      testing_support::read_text("/proc/self/oom_score_adj") == "900\n";
    _exit(held ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace attnscope::platform
