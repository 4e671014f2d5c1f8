#include "platform/paths.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "platform/file_lock.h"
#include "support/temp_dir.h"
#include "support/variable.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

using testing_support::Variable;

TEST(Paths, XdgVariablesAndTheirDefaults) {
  Variable own("ATTNSCOPE_HOME", nullptr), home("HOME", "/h"), config("XDG_CONFIG_HOME", nullptr);
  Variable cache("XDG_CACHE_HOME", "/c"), data("XDG_DATA_HOME", "relative/is/ignored");
  auto paths = user_paths();
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->cache, "/c/attnscope");
  EXPECT_EQ(paths->config, "/h/.config/attnscope");
  EXPECT_EQ(paths->data, "/h/.local/share/attnscope");
}

TEST(Paths, OwnHomeHoldsAll) {
  Variable own("ATTNSCOPE_HOME", "/own"), cache("XDG_CACHE_HOME", "/c");
  EXPECT_EQ(user_paths()->cache, "/own/cache");
  EXPECT_EQ(user_paths()->config, "/own/config");
  EXPECT_EQ(user_paths()->data, "/own/data");
}

TEST(Paths, NoHomeIsAFailure) {
  Variable own("ATTNSCOPE_HOME", nullptr), home("HOME", nullptr), cache("XDG_CACHE_HOME", nullptr);
  auto paths = user_paths();
  ASSERT_FALSE(paths);
  EXPECT_EQ(paths.error().stage, Stage::store);
}

TEST(Paths, EachFolderNeedsAnAbsolutePlaceAndNamesItsVariable) {
  for (const char* missing : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}) {
    Variable own("ATTNSCOPE_HOME", nullptr), home("HOME", "relative");
    Variable cache("XDG_CACHE_HOME", "/c"), config("XDG_CONFIG_HOME", "/f"), data("XDG_DATA_HOME", "/d");
    const auto whole = user_paths();
    ASSERT_TRUE(whole) << "no home is needed";
    EXPECT_EQ(whole->cache, "/c/attnscope");
    EXPECT_EQ(whole->config, "/f/attnscope");
    EXPECT_EQ(whole->data, "/d/attnscope");
    Variable none(missing, nullptr);
    const auto paths = user_paths();
    ASSERT_FALSE(paths) << missing;
    EXPECT_EQ(paths.error().message, std::string("neither $HOME nor $") + missing + " names a folder");
  }
}

TEST(Paths, AnOwnHomeMayBeRelative) {
  Variable own("ATTNSCOPE_HOME", "own");
  EXPECT_EQ(user_paths()->data, fs::current_path() / "own" / "data");
}

TEST(Paths, NamedResourcesAreTakenWhereBothFoldersAre) {
  const testing_support::TempDir folder;
  Variable named("ATTNSCOPE_RESOURCES", folder.path().c_str());
  for (const char* part : {"kernels", "assets"}) {
    const auto found = resources();
    ASSERT_FALSE(found) << "without " << part;
    EXPECT_EQ(found.error().stage, Stage::store);
    EXPECT_EQ(found.error().message, "ATTNSCOPE_RESOURCES=" + folder.path().string() + " has no kernels/ and assets/");
    fs::create_directory(folder / part);
  }
  EXPECT_EQ(resources().value(), folder.path());
  fs::remove(folder / "kernels");
  EXPECT_FALSE(resources());
}

TEST(Paths, AVariableThatIsNotSetIsEmpty) {
  Variable set("ATTNSCOPE_TEST_VARIABLE", "value");
  EXPECT_EQ(environment("ATTNSCOPE_TEST_VARIABLE"), "value");
  Variable unset("ATTNSCOPE_TEST_VARIABLE", nullptr);
  EXPECT_EQ(environment("ATTNSCOPE_TEST_VARIABLE"), "");
}

TEST(Paths, ResourcesOfABuildTreeAreTheSourceTree) {
  Variable named("ATTNSCOPE_RESOURCES", nullptr);
  auto found = resources();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, fs::path(ATTNSCOPE_SOURCE_DIR));
}

TEST(Paths, NamedResourcesMustHoldThem) {
  Variable named("ATTNSCOPE_RESOURCES", "/nowhere");
  auto found = resources();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("/nowhere"), std::string::npos);
}

TEST(Paths, OwnExecutableIsThisTest) { EXPECT_EQ(own_executable()->filename(), "platform_tests"); }

TEST(FileLock, OneHolderAtATime) {
  const fs::path file = fs::temp_directory_path() / ("attnscope_lock_" + std::to_string(getpid()));
  {
    auto first = FileLock::within(file, 0);
    ASSERT_TRUE(first && first->held());
    auto second = FileLock::within(file, 0);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->held());
  }
  auto third = FileLock::within(file, 0);
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->held());
  fs::remove(file);
}

TEST(FileLock, AHolderThatDiesFreesIt) {
  const fs::path file = fs::temp_directory_path() / ("attnscope_lock2_" + std::to_string(getpid()));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    auto lock = FileLock::within(file, 0);
    if (write(ends[1], "l", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char locked;
  ASSERT_EQ(read(ends[0], &locked, 1), 1);
  EXPECT_FALSE(FileLock::within(file, 0)->held());
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(FileLock::within(file, 0)->held());
  close(ends[0]);
  close(ends[1]);
  fs::remove(file);
}

TEST(FileLock, WhoWaitsGetsItWhenItIsFree) {
  const fs::path file = fs::temp_directory_path() / ("attnscope_lock3_" + std::to_string(getpid()));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto first = std::make_unique<FileLock>(*FileLock::within(file, 0));
  ASSERT_TRUE(first->held());
  std::thread waiting([&] {
    if (write(ends[1], "w", 1) != 1) return;
    auto second = FileLock::within(file, 600'000);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->held());
  });
  char waits;
  EXPECT_EQ(read(ends[0], &waits, 1), 1);
  first.reset();
  waiting.join();
  close(ends[0]);
  close(ends[1]);
  fs::remove(file);
}

TEST(FileLock, SaysWhatItsFileSystemCan) {
  const testing_support::TempDir folder;
  auto held = FileLock::within(folder / "lock", 0);
  ASSERT_TRUE(held && held->held());
  EXPECT_TRUE(held->supported());
  EXPECT_TRUE(held->shares_memory());
  auto refused = FileLock::within(folder / "lock", 30);
  ASSERT_TRUE(refused && !refused->held());
  EXPECT_TRUE(refused->supported());
  EXPECT_FALSE(refused->shares_memory());
  *refused = std::move(*held);  // the lock moves along
  EXPECT_TRUE(refused->held());
  EXPECT_FALSE(held->held());
  EXPECT_FALSE(FileLock::within(folder / "lock", 0)->held());
  const FileLock taken(std::move(*refused));
  EXPECT_FALSE(refused->held());
  EXPECT_FALSE(FileLock::within(folder / "lock", 0)->held());
  EXPECT_TRUE(fs::exists(folder / "lock"));
}

TEST(FileLock, AFolderThatIsNotThereIsNamed) {
  auto lock = FileLock::within("/no/such/folder/lock", 0);
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().message.find("/no/such/folder/lock"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::platform
