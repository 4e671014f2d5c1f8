#include "worker/executor_walls.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "platform/paths.h"
#include "support/temp_dir.h"
#include "support/walls.h"

namespace attnscope::worker {
namespace {

namespace fs = std::filesystem;

using testing_support::try_open;
using testing_support::try_socket;

// A home outside of what an executor may use: /tmp, the program's own folder, the resources.
class ExecutorWalls : public testing::Test {
 protected:
  void SetUp() override {
    if (platform::landlock_version() == 0) GTEST_SKIP() << "this system has no landlock";
    fs::create_directories(installed / "kernels");
    fs::create_directories(installed / "assets");
    fs::create_directories(home / "cache");
    home.write("secret", "x");
    if (const char* old = std::getenv("HOME")) before = old;
    changed = true;
    setenv("HOME", home.path().c_str(), 1);
  }
  void TearDown() override {
    if (!changed) return;
    before ? setenv("HOME", before->c_str(), 1) : unsetenv("HOME");
  }
  platform::Allowed allowance(bool gpu) const { return executor_allowance(home / "cache", installed.path(), gpu); }
  testing_support::TempDir installed;
  // Each test has its own: ctest runs two of these tests at once.
  testing_support::TempDir home{platform::own_executable()->parent_path().parent_path()};
  std::optional<std::string> before;
  bool changed = false;
};

TEST_F(ExecutorWalls, WritesItsCacheAndReadsNoHome) {
  for (const char* shared : {"/tmp/", "/var/tmp/"})
    if (home.path().string().starts_with(shared))
      GTEST_SKIP() << "this build lies in " << shared << ", where an executor may read and write";
  int secret = 0, written = 0, cache = -1, temporary = -1, system = -1, passwd = 0, kernels = -1, socket = 0, local = 0;
  platform::on_confined_thread(allowance(false), [&](platform::Walls) {
    secret = try_open(home / "secret");
    written = try_open(home / "new", O_WRONLY | O_CREAT);
    cache = try_open(home / "cache/new", O_WRONLY | O_CREAT);
    testing_support::TempDir folder;
    temporary = try_open(folder / "new", O_WRONLY | O_CREAT);
    system = try_open("/proc/meminfo");
    passwd = try_open("/etc/passwd", O_WRONLY);
    kernels = try_open(installed / "kernels", O_RDONLY | O_DIRECTORY);
    socket = try_socket(AF_INET);
    local = try_socket(AF_UNIX);
  });
  EXPECT_EQ(secret, EACCES);
  EXPECT_EQ(written, EACCES);
  EXPECT_EQ(cache, 0);
  EXPECT_EQ(temporary, 0);
  EXPECT_EQ(system, 0);
  EXPECT_EQ(passwd, EACCES);
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(socket, EACCES);
  EXPECT_EQ(local, EACCES);
}

TEST_F(ExecutorWalls, WithAGpuLocalSocketsStayOpen) {
  int socket = 0, local = -1;
  platform::on_confined_thread(allowance(true), [&](platform::Walls) {
    socket = try_socket(AF_INET);
    local = try_socket(AF_UNIX);
  });
  EXPECT_EQ(socket, EACCES);
  EXPECT_EQ(local, 0);
}

}  // namespace
}  // namespace attnscope::worker
