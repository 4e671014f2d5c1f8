#include "platform/file_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

using testing_support::TempDir;
constexpr int64_t kSecond = 1'000'000'000;

TEST(FileStamp, OnlyAFileHasOne) {
  TempDir dir;
  dir.write("folder/file", "text");
  std::filesystem::create_symlink("folder/file", dir / "link");
  EXPECT_FALSE(stamp_of(dir / "none"));
  EXPECT_FALSE(stamp_of(dir / "folder"));
  EXPECT_FALSE(stamp_of("/dev/null"));
  ASSERT_TRUE(stamp_of(dir / "folder/file"));
  EXPECT_EQ(stamp_of(dir / "link"), stamp_of(dir / "folder/file"));
}

TEST(FileStamp, SaysWhatTheFileSystemSays) {
  TempDir dir;
  const auto path = dir.write("file", "12345");
  const timespec times[2] = {{7, 8}, {1'000'000'001, 23}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const auto stamp = stamp_of(path);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->bytes, 5u);
  EXPECT_EQ(stamp->modified_ns, 1'000'000'001 * kSecond + 23);
  EXPECT_NE(stamp->changed_ns, stamp->modified_ns);
}

TEST(FileStamp, AFileOfThisSecondMayChangeAndKeepItsStamp) {
  TempDir dir;
  auto stamp = *stamp_of(dir.write("file", "x"));
  EXPECT_TRUE(is_recent(stamp));
  const int64_t now = stamp.changed_ns;
  stamp.changed_ns = now + 3600 * kSecond;  // the clock was set back
  EXPECT_TRUE(is_recent(stamp));
  stamp.changed_ns = now - 2 * kSecond;
  EXPECT_FALSE(is_recent(stamp));
}

TEST(FileStamp, OnlyAFolderHasAFoldersAndItChangesWithItsNames) {
  TempDir dir;
  const auto file = dir.write("folder/file", "text");
  EXPECT_FALSE(folder_stamp_of(file));
  EXPECT_FALSE(folder_stamp_of(dir / "none"));
  const auto before = folder_stamp_of(dir / "folder");
  ASSERT_TRUE(before);
  EXPECT_EQ(folder_stamp_of(dir / "folder"), before);
  const timespec old[2] = {{7, 8}, {1'000'000'001, 23}};
  ASSERT_EQ(utimensat(AT_FDCWD, (dir / "folder").c_str(), old, 0), 0);
  EXPECT_EQ(folder_stamp_of(dir / "folder")->modified_ns, 1'000'000'001 * kSecond + 23);
  dir.write("folder/other", "");
  EXPECT_NE(folder_stamp_of(dir / "folder")->modified_ns, 1'000'000'001 * kSecond + 23);
}

TEST(FileStamp, TellsFilesApart) {
  TempDir dir;
  const auto one = stamp_of(dir.write("one", "x")), other = stamp_of(dir.write("other", "x"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->device, other->device);
  EXPECT_NE(one->inode, other->inode);
  struct stat info {};
  ASSERT_EQ(stat((dir / "one").c_str(), &info), 0);
  EXPECT_EQ(one->inode, info.st_ino);
  EXPECT_EQ(one->device, info.st_dev);
  EXPECT_EQ(one->changed_ns, info.st_ctim.tv_sec * kSecond + info.st_ctim.tv_nsec);
}

TEST(FileStamp, ANameIsThereWhateverItIsAndUnlessTheSystemSaysItIsNot) {
  TempDir dir;
  const auto file = dir.write("file", "x");
  std::filesystem::create_symlink("nowhere", dir / "broken");
  for (const char* name : {"file", "broken", ""}) {
    errno = ENOENT;  // from an earlier call
    EXPECT_TRUE(name_exists(dir / name)) << name;
  }
  EXPECT_FALSE(name_exists(dir / "none"));
  EXPECT_TRUE(name_exists(file / "below")) << "a file is no folder: the system does not say";
}

}  // namespace
}  // namespace attnscope::platform
