#include "platform/move_aside.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

using testing_support::read_text;
using testing_support::TempDir;

TEST(MoveAside, EveryDamagedFileGetsANameOfItsOwn) {
  TempDir dir;
  for (int n = 1; n <= 3; ++n) {
    const auto path = dir.write("file", std::to_string(n));
    auto aside = move_aside(path);
    ASSERT_TRUE(aside) << aside.error().message;
    EXPECT_EQ(*aside, dir / ("file.damaged-" + std::to_string(n)));
  }
  for (int n = 1; n <= 3; ++n) EXPECT_EQ(read_text(dir / ("file.damaged-" + std::to_string(n))), std::to_string(n));
}

TEST(MoveAside, CompanionsGoAlongAndOverwriteNothing) {
  TempDir dir;
  dir.write("file.damaged-1-wal", "of another time");
  dir.write("file-wal", "log");
  auto aside = move_aside(dir.write("file", "x"), {"-wal", "-shm"});
  ASSERT_TRUE(aside);
  EXPECT_EQ(*aside, dir / "file.damaged-2");
  EXPECT_EQ(read_text(dir / "file.damaged-2-wal"), "log");
  EXPECT_EQ(read_text(dir / "file.damaged-1-wal"), "of another time");
}

TEST(MoveAside, AMissingFileIsAFailureThatNamesIt) {
  TempDir dir;
  auto aside = move_aside(dir / "none");
  ASSERT_FALSE(aside);
  EXPECT_NE(aside.error().message.find("none"), std::string::npos);
}

TEST(MoveAside, ALinkToNowhereIsANameToo) {
  TempDir dir;
  std::filesystem::create_symlink("nowhere", dir / "file.damaged-1");
  std::filesystem::create_symlink("nowhere", dir / "file.damaged-2-shm");
  EXPECT_EQ(move_aside(dir.write("file", "x"), {"-wal", "-shm"}).value(), dir / "file.damaged-3");
}

TEST(MoveAside, AFailureSaysWhy) {
  TempDir dir;
  const auto aside = move_aside(dir / "none");
  ASSERT_FALSE(aside);
  EXPECT_EQ(aside.error().stage, Stage::store);
  EXPECT_EQ(aside.error().message,
            (dir / "none").string() + " is damaged and could not be moved aside: No such file or directory.");
}

TEST(MayWriteIn, AFolderThatIsThere) {
  TempDir dir;
  EXPECT_TRUE(may_write_in(dir.path()));
  EXPECT_FALSE(may_write_in(dir / "none"));
}

TEST(FileIdentity, TellsAFileFromTheNextOfItsName) {
  TempDir dir;
  const auto path = dir.write("file", "x");
  const auto before = identity_of(path);
  ASSERT_TRUE(before);
  EXPECT_EQ(identity_of(path), before);
  ASSERT_TRUE(move_aside(path));
  EXPECT_FALSE(identity_of(path));
  dir.write("file", "y");
  EXPECT_NE(identity_of(path), before);
}

}  // namespace
}  // namespace attnscope::platform
