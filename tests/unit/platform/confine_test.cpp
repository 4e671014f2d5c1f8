#include "platform/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

#include "platform/run_tool.h"
#include "support/no_threads.h"
#include "support/temp_dir.h"
#include "support/variable.h"
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

// Tries everything that a program may do to a folder. Returns the errno; 0 on success.
using Attempt = std::pair<const char*, int (*)(const fs::path& folder)>;
int error_of(int returned) { return returned == 0 ? 0 : errno; }
constexpr Attempt kWrites[] = {
    {"write a file", [](const fs::path& in) { return try_open(in / "word", O_WRONLY); }},
    {"truncate a file", [](const fs::path& in) { return error_of(truncate((in / "word").c_str(), 0)); }},
    {"make a file", [](const fs::path& in) { return try_open(in / "made", O_WRONLY | O_CREAT | O_EXCL); }},
    {"make a file node", [](const fs::path& in) { return error_of(mknod((in / "node").c_str(), S_IFREG | 0600, 0)); }},
    {"make a folder", [](const fs::path& in) { return error_of(mkdir((in / "folder").c_str(), 0700)); }},
    {"make a link", [](const fs::path& in) { return error_of(symlink("word", (in / "link").c_str())); }},
    {"make a FIFO", [](const fs::path& in) { return error_of(mkfifo((in / "fifo").c_str(), 0600)); }},
    {"make a socket", [](const fs::path& in) { return error_of(mknod((in / "socket").c_str(), S_IFSOCK | 0600, 0)); }},
    {"remove a file", [](const fs::path& in) { return error_of(unlink((in / "spare").c_str())); }},
    {"remove a folder", [](const fs::path& in) { return error_of(rmdir((in / "empty").c_str())); }},
};
// These calls need rights that a test may lack; walls refuse them before the system checks those rights.
constexpr Attempt kDevices[] = {
    {"character", [](const fs::path& in) { return error_of(mknod((in / "c").c_str(), S_IFCHR | 0600, 0x103)); }},
    {"block", [](const fs::path& in) { return error_of(mknod((in / "b").c_str(), S_IFBLK | 0600, 0x700)); }},
};

TEST_F(Confine, EachKindOfWriteIsRefusedOutsideAndAllowedInside) {
  for (const char* where : {"shown", "secret"}) {
    folder.write(std::string(where) + "/spare", "x");
    fs::create_directory(folder / where / "empty");
  }
  on_confined_thread({{folder / "secret"}, {folder / "shown"}, Sockets::none}, [&](Walls) {
    for (const auto& [what, attempt] : kWrites) {
      if (std::string(what) == "truncate a file" && landlock_version() < 3) continue;
      EXPECT_EQ(attempt(folder / "secret"), EACCES) << what;
      EXPECT_EQ(attempt(folder / "shown"), 0) << what;
    }
    for (const auto& [what, attempt] : kDevices) {
      EXPECT_EQ(attempt(folder / "secret"), EACCES) << what;
      EXPECT_NE(attempt(folder / "shown"), EACCES) << what;
    }
  });
}

TEST_F(Confine, AFileMovesBetweenWritableFoldersAndIntoNoOther) {
  fs::create_directory(folder / "also");
  int within = -1, out = 0;
  on_confined_thread({{folder / "secret"}, {folder / "shown", folder / "also"}, Sockets::none}, [&](Walls) {
    within = error_of(rename(shown.c_str(), (folder / "also" / "word").c_str()));
    out = error_of(rename((folder / "also" / "word").c_str(), (folder / "secret" / "moved").c_str()));
  });
  EXPECT_EQ(within, landlock_version() >= 2 ? 0 : EXDEV);
  EXPECT_NE(out, 0);
}

TEST_F(Confine, AReadableFolderCanBeListedAndItsProgramsRun) {
  fs::copy_file("/bin/true", folder / "shown" / "program");
  fs::copy_file("/bin/true", folder / "secret" / "program");
  Allowed allowed{program_files(), {}, Sockets::none};
  allowed.read.push_back(folder / "shown");
  int listed = -1, hidden = 0;
  Result<ToolOutput> ran, refused;
  on_confined_thread(allowed, [&](Walls) {
    listed = try_open(folder / "shown", O_RDONLY | O_DIRECTORY);
    hidden = try_open(folder / "secret", O_RDONLY | O_DIRECTORY);
    ran = run_tool({folder / "shown" / "program", {}, {}, 20000, 1 << 20, {}});
    refused = run_tool({folder / "secret" / "program", {}, {}, 20000, 1 << 20, {}});
  });
  EXPECT_EQ(listed, 0);
  EXPECT_EQ(hidden, EACCES);
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_FALSE(refused);
}

// A path may name a file instead of its folder, and a path that does not exist changes nothing for the others.
TEST_F(Confine, AFileAloneIsAllowed) {
  const fs::path beside = folder.write("shown/beside", "x"), own = folder.write("secret/own", "x");
  int read = -1, next = 0, written = -1, over = 0;
  on_confined_thread({{folder / "none", shown}, {folder / "nowhere", own}, Sockets::none}, [&](Walls) {
    read = try_open(shown);
    over = try_open(shown, O_WRONLY);
    next = try_open(beside);
    written = try_open(own, O_RDWR);
  });
  EXPECT_EQ(read, 0);
  EXPECT_EQ(over, EACCES);
  EXPECT_EQ(next, EACCES);
  EXPECT_EQ(written, 0);
}

TEST_F(Confine, LocalSocketsOnly) {
  const int outside = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(outside, 0);
  int internet = 0, older = 0, local = -1, connected = -1, tcp = 0;
  on_confined_thread({{folder / "shown"}, {}, Sockets::local}, [&](Walls walls) {
    EXPECT_TRUE(walls.sockets);
    internet = try_socket(AF_INET6);
    older = try_socket(AF_INET);
    local = try_socket(AF_UNIX);
    const int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un nowhere{AF_UNIX, "/nowhere/socket"};
    connected = error_of(connect(own, reinterpret_cast<const sockaddr*>(&nowhere), sizeof nowhere));
    close(own);
    tcp = try_connect(outside);
  });
  close(outside);
  EXPECT_EQ(internet, EACCES);
  EXPECT_EQ(older, EACCES);
  EXPECT_EQ(local, 0);
  EXPECT_EQ(connected, ENOENT) << "a local service may be asked";
  EXPECT_EQ(tcp, landlock_version() >= 4 ? EACCES : ECONNREFUSED) << "a TCP socket from before the wall";
}

// io_uring makes sockets past the filter, so it is not available; other calls are.
TEST_F(Confine, WaysAroundTheSocketWallAreMissing) {
  int ring = 0, threads_own = 0, no_rights = 0;
  on_confined_thread({{}, {}, Sockets::local}, [&](Walls) {
    ring = error_of(static_cast<int>(syscall(SYS_io_uring_setup, 1, nullptr)));
    threads_own = static_cast<int>(syscall(SYS_gettid));
    no_rights = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  });
  EXPECT_EQ(ring, ENOSYS);
  EXPECT_GT(threads_own, 0);
  EXPECT_EQ(no_rights, 1);
}

#if defined(__x86_64__)
// getpid() through the calls of 32-bit programs, which the filter does not list.
long foreign_getpid() {
  constexpr long number = 20;
  long answer = number;
  asm volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
  return answer;
}

TEST_F(Confine, CallsOfAnotherInstructionSetAreMissing) {
  const pid_t child = fork();
  if (child == 0) _exit(foreign_getpid() == getpid() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) GTEST_SKIP() << "this system runs no 32-bit calls";
  long answer = 0;
  on_confined_thread({{}, {}, Sockets::none}, [&](Walls) { answer = foreign_getpid(); });
  EXPECT_EQ(answer, -ENOSYS);
}
#endif

TEST(ProgramFiles, HoldWhatProgramsLoadAndTheLoadersOwnPath) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string kept = before ? before : "";
  unsetenv("LD_LIBRARY_PATH");
  const std::vector<fs::path> plain = program_files();
  for (const char* path : {"/lib", "/usr", "/bin", "/dev/null", "/etc/ld.so.cache"})
    EXPECT_TRUE(std::ranges::count(plain, fs::path(path))) << path;
  for (const char* path : {"/", "/home", "/root", "/etc", "/tmp", "/proc", "/dev"})
    EXPECT_FALSE(std::ranges::count(plain, fs::path(path))) << path;
  const std::pair<const char*, std::vector<fs::path>> kPaths[] = {
      {"", {}}, {":", {}}, {"/a", {"/a"}}, {"/a:/b", {"/a", "/b"}}, {":/a::/b:", {"/a", "/b"}}};
  for (const auto& [variable, added] : kPaths) {
    setenv("LD_LIBRARY_PATH", variable, 1);
    const std::vector<fs::path> files = program_files();
    ASSERT_EQ(files.size(), plain.size() + added.size()) << variable;
    EXPECT_TRUE(std::equal(added.begin(), added.end(), files.end() - static_cast<ptrdiff_t>(added.size()))) << variable;
  }
  if (before)
    setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
  else
    unsetenv("LD_LIBRARY_PATH");
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
  const testing_support::Variable no_walls("ATTNSCOPE_CONFINE", "off");
  int opened = -1;
  Walls walls{true, true};
  on_confined_thread({}, [&](Walls standing) {
    walls = standing;
    opened = try_open(secret);
  });
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
    const bool held = core.rlim_cur == 0 && file.rlim_cur == 1 << 20 && file.rlim_max == 1 << 20 &&
                      testing_support::read_text("/proc/self/oom_score_adj") == "900\n";
    _exit(held ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ConfineProcess, ALowerLimitStays) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit low{1000, 2000};
    setrlimit(RLIMIT_FSIZE, &low);
    limit_process(1 << 20);
    rlimit file{};
    getrlimit(RLIMIT_FSIZE, &file);
    if (file.rlim_cur != 1000 || file.rlim_max != 2000) _exit(1);
    limit_process(500);
    getrlimit(RLIMIT_FSIZE, &file);
    _exit(file.rlim_cur == 500 && file.rlim_max == 500 ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace attnscope::platform
