#include "worker/executor_walls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "platform/paths.h"
#include "support/temp_dir.h"
#include "support/variable.h"
#include "support/walls.h"

namespace attnscope::worker {
namespace {

namespace fs = std::filesystem;

using testing_support::try_open;
using testing_support::try_socket;
using testing_support::Variable;

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

TEST(ExecutorAllowance, NoHomeIsReadAndTheSystemIs) {
  const auto reads = [](const std::string& home, const fs::path& path) {
    const Variable variable("HOME", home);
    const platform::Allowed allowed = executor_allowance("/c", "/r", false);
    return std::ranges::find(allowed.read, path) != allowed.read.end();
  };
  for (const char* system : {"/usr", "/etc", "/proc", "/tmp", "/var"})
    EXPECT_EQ(reads("/home/ada", system), fs::exists(system)) << system;
  for (const char* home : {"/home", "/root", "/media"}) EXPECT_FALSE(reads("/home/ada", home)) << home;
  EXPECT_FALSE(reads("/proc/ada/home", "/proc")) << "the top folder of the homes";
  EXPECT_TRUE(reads("/proc/ada/home", "/usr"));
  EXPECT_TRUE(reads("/usr/ada", "/usr")) << "a home below a folder of the system";
  EXPECT_TRUE(reads("", "/proc"));
  EXPECT_TRUE(reads("/", "/proc"));
}

TEST(ExecutorAllowance, WhatIsInstalledIsReadWhereverItIs) {
  const Variable nvrtc("ATTNSCOPE_NVRTC", "/opt/a/lib/libnvrtc.so.12"), cublas("ATTNSCOPE_CUBLAS", "/opt/b/lib/b.so"),
      cupti("ATTNSCOPE_CUPTI", "/opt/c/lib/c.so"), nvdisasm("ATTNSCOPE_NVDISASM", "/opt/d/bin/nvdisasm"),
      cutlass("ATTNSCOPE_CUTLASS", "/opt/cutlass");
  const platform::Allowed allowed = executor_allowance("/c", "/r", false);
  const fs::path self = platform::own_executable()->parent_path();
  for (const fs::path& path :
       {fs::path("/r"), self, self.parent_path() / "lib", fs::path("/opt/a/lib"), fs::path("/opt/a/include"),
        fs::path("/opt/b/lib"), fs::path("/opt/c/lib"), fs::path("/opt/d/bin"), fs::path("/opt/cutlass"),
        fs::path("/lib"), fs::path("/dev/urandom")})
    EXPECT_NE(std::ranges::find(allowed.read, path), allowed.read.end()) << path;
}

TEST(ExecutorAllowance, OnlyCachesAndTemporaryFoldersAreWritten) {
  const Variable home("HOME", "/home/ada"), tmp("TMPDIR", "/scratch"), cache("CUDA_CACHE_PATH", "/cuda"),
      pipe("CUDA_MPS_PIPE_DIRECTORY", "/pipe"), log("CUDA_MPS_LOG_DIRECTORY", "");
  const platform::Allowed allowed = executor_allowance("/c", "/r", false);
  std::vector<fs::path> written = allowed.write;
  std::erase_if(written, [](const fs::path& path) {
    const std::string name = path.filename().string();
    return path.parent_path() == "/dev" && (name.starts_with("nv") || name.starts_with("dxg") || name == "dri");
  });
  EXPECT_EQ(written, (std::vector<fs::path>{"/c", "/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero",
                                            "/proc/self", "/scratch", "/cuda", "/pipe", "/home/ada/.nv"}));
  EXPECT_EQ(allowed.sockets, platform::Sockets::none);
  EXPECT_EQ(executor_allowance("/c", "/r", true).sockets, platform::Sockets::local);
}

}  // namespace
}  // namespace attnscope::worker
