#include "platform/file_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

}  // namespace
}  // namespace attnscope::platform
