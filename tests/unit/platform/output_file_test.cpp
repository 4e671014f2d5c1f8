#include "platform/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "platform/atomic_file.h"
#include "support/interruptions.h"
#include "support/temp_dir.h"
#include "support/unprivileged.h"
#include "support/variable.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;
using testing_support::read_text;
using testing_support::TempDir;
using testing_support::unprivileged;

class OutputFile : public testing::Test {
 protected:
  ~OutputFile() override { inject_write_fault(std::nullopt); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }
  struct stat info(const fs::path& path) const {
    struct stat found {};
    EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
    return found;
  }
  TempDir dir_;
};

TEST_F(OutputFile, ANewFileAndOneThatIsThere) {
  for (const char* text : {"first", "second, longer", ""}) {
    ASSERT_TRUE(write_output(dir_ / "out", text));
    EXPECT_EQ(read_text(dir_ / "out"), text);
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFile, AFileKeepsItsRights) {
  for (const mode_t rights : {0600u, 0664u, 0755u}) {
    dir_.write("out", "old");
    ASSERT_EQ(chmod((dir_ / "out").c_str(), rights), 0);
    ASSERT_TRUE(write_output(dir_ / "out", "new"));
    EXPECT_EQ(info(dir_ / "out").st_mode & 07777, rights);
  }
}

TEST_F(OutputFile, ALinkStaysAndItsFileIsReplaced) {
  dir_.write("there/real", "old");
  fs::create_symlink("there/real", dir_ / "near");
  fs::create_symlink(dir_ / "near", dir_ / "far");
  ASSERT_TRUE(write_output(dir_ / "far", "new"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "far") && fs::is_symlink(dir_ / "near"));
  EXPECT_EQ(read_text(dir_ / "there/real"), "new");
  fs::create_symlink("there/made", dir_ / "empty");
  ASSERT_TRUE(write_output(dir_ / "empty", "made"));
  EXPECT_EQ(read_text(dir_ / "there/made"), "made");
  fs::create_symlink("circle", dir_ / "circle");
  EXPECT_FALSE(write_output(dir_ / "circle", "x"));
}

TEST_F(OutputFile, AFullDiskLeavesTheOldFileAndNoOther) {
  dir_.write("real", "old");
  fs::create_symlink("real", dir_ / "link");
  inject_write_fault(WriteFault{"real", 1, ENOSPC});
  auto done = write_output(dir_ / "link", "newer");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().hint.find("space"), std::string::npos);
  EXPECT_EQ(read_text(dir_ / "real"), "old");
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFile, ADeviceStaysADeviceAndSaysThatItIsFull) {
  if (mknod((dir_ / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0 ||
      mknod((dir_ / "full").c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)
    GTEST_SKIP() << "this user may not make devices";
  const auto null = info(dir_ / "null"), full = info(dir_ / "full");
  if (const int fd = open((dir_ / "null").c_str(), O_WRONLY); fd < 0)
    GTEST_SKIP() << "devices cannot be used in this folder";
  else
    close(fd);
  EXPECT_TRUE(write_output(dir_ / "null", "text"));
  EXPECT_TRUE(write_file(dir_ / "null", "text")) << "a settings file is written into it too";
  auto done = write_output(dir_ / "full", "text");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("full"), std::string::npos);
  EXPECT_EQ(info(dir_ / "null").st_ino, null.st_ino);
  EXPECT_EQ(info(dir_ / "full").st_ino, full.st_ino);
  EXPECT_TRUE(S_ISCHR(info(dir_ / "full").st_mode));
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFile, APipeIsWrittenWhenItIsRead) {
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto refused = write_output(pipe, "text");
  ASSERT_FALSE(refused) << "it must not wait";
  EXPECT_NE(refused.error().message.find("no program reads"), std::string::npos);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  const std::string text(200000, 'x');  // more than a pipe holds
  std::thread writer([&] { EXPECT_TRUE(write_output(pipe, text)); });
  fcntl(reader, F_SETFL, 0);
  std::string got(text.size(), '\0');
  for (size_t at = 0; at < got.size();) {
    const ssize_t n = read(reader, got.data() + at, got.size() - at);
    if (n < 0) break;
    at += static_cast<size_t>(n);
  }
  writer.join();
  close(reader);
  EXPECT_EQ(got, text);
  EXPECT_TRUE(S_ISFIFO(info(pipe).st_mode));
}

TEST_F(OutputFile, APipeIsWrittenWholeThoughSignalsInterruptIt) {
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  const std::string text(200000, 'x');
  const testing_support::Interruptions interruptions;
  std::thread writer([&] { EXPECT_TRUE(write_output(pipe, text)); });
  const testing_support::WithoutInterruptions here;  // the writer gets them
  testing_support::Interruptions::wait_for(20);
  fcntl(reader, F_SETFL, 0);
  std::string got;
  char bytes[4096];
  while (got.size() < text.size()) {
    const ssize_t n = read(reader, bytes, sizeof bytes);
    if (n <= 0) break;
    got.append(bytes, static_cast<size_t>(n));
  }
  writer.join();
  close(reader);
  EXPECT_EQ(got, text);
}

TEST_F(OutputFile, AnOpenFileOfThisProcessIsWrittenAtItsPosition) {
  const int fd = open((dir_ / "out").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "one ", 4), 4);
  const std::string number = std::to_string(fd);
  const auto inode = info(dir_ / "out").st_ino;
  EXPECT_TRUE(write_output("/proc/self/fd/" + number, "two "));  // like /dev/stdout
  EXPECT_TRUE(write_output("/dev/fd/" + number, "three"));
  close(fd);
  EXPECT_EQ(read_text(dir_ / "out"), "one two three");
  EXPECT_EQ(info(dir_ / "out").st_ino, inode);
}

TEST_F(OutputFile, NoFolderIsEverMade) {
  auto done = write_output(dir_ / "mistyped/deep/out", "x");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find((dir_ / "mistyped/deep").string() + " does not exist"), std::string::npos);
  EXPECT_EQ(check_output(dir_ / "mistyped/deep/out").error(), done.error());
  EXPECT_TRUE(check_output(dir_ / "out"));
  EXPECT_EQ(files(), 0u);
  EXPECT_FALSE(write_output(dir_.path(), "x"));
  EXPECT_FALSE(write_output(dir_ / "out/", "x"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFile, AFolderOfFilesIsMadeInOneThatExists) {
  EXPECT_TRUE(make_output_folder(dir_ / "new"));
  EXPECT_TRUE(make_output_folder(dir_ / "new/"));
  EXPECT_TRUE(make_output_folder(dir_ / "slash/"));
  EXPECT_TRUE(fs::is_directory(dir_ / "slash"));
  auto done = make_output_folder(dir_ / "mistyped/new");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find((dir_ / "mistyped").string() + " does not exist"), std::string::npos);
  dir_.write("file", "x");
  EXPECT_FALSE(make_output_folder(dir_ / "file"));
  EXPECT_FALSE(make_output_folder(dir_ / "file/new"));
}

TEST_F(OutputFile, ManyLinksAreFollowedAndAChainHasAnEnd) {
  fs::path last = dir_.write("file", "old");
  for (int links = 1; links <= 40; ++links) {
    const fs::path link = dir_ / ("link" + std::to_string(links));
    fs::create_symlink(last.filename(), link);
    last = link;
  }
  EXPECT_TRUE(write_output(dir_ / "link39", "new"));
  EXPECT_EQ(read_text(dir_ / "file"), "new");
  const auto refused = write_output(dir_ / "link40", "newer");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Too many levels of symbolic links"), std::string::npos);
  EXPECT_EQ(read_text(dir_ / "file"), "new");
}

TEST_F(OutputFile, AFailuresHintFitsItsReason) {
  const std::pair<int, const char*> kHints[] = {{ENOSPC, "Free some space on that disk."},
                                                {EDQUOT, "Free some space on that disk."},
                                                {ENOENT, "Check the path."},
                                                {ENOTDIR, "Check the path."},
                                                {ENAMETOOLONG, "Check the path."},
                                                {ELOOP, "Check the path."},
                                                {EROFS, "That file system is read-only: use another folder."},
                                                {EACCES, "Check the rights of the file and its folder."}};
  for (const auto& [error, hint] : kHints) {
    inject_write_fault(WriteFault{"out", 0, error});
    const auto done = write_output(dir_ / "out", "x");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().stage, Stage::store);
    EXPECT_EQ(done.error().message, (dir_ / "out").string() + " could not be written: " + std::strerror(error) + ".");
    EXPECT_EQ(done.error().hint, hint) << std::strerror(error);
  }
}

// The program makes its own folders and their parents, and no others.
TEST_F(OutputFile, OnlyTheProgramsOwnFoldersAreMadeWithTheirParents) {
  const testing_support::Variable variables[] = {{"XDG_CONFIG_HOME", dir_ / "XDG_CONFIG_HOME"},
                                                 {"XDG_DATA_HOME", dir_ / "XDG_DATA_HOME"},
                                                 {"XDG_CACHE_HOME", dir_ / "XDG_CACHE_HOME"},
                                                 {"ATTNSCOPE_HOME", nullptr}};
  for (const char* own : {"XDG_CONFIG_HOME/attnscope/presets/mine", "XDG_DATA_HOME/attnscope"}) {
    EXPECT_TRUE(make_output_folder(dir_ / own)) << own;
    EXPECT_TRUE(fs::is_directory(dir_ / own)) << own;
  }
  for (const char* other : {"XDG_CONFIG_HOME/attnscope2/presets", "XDG_CACHE_HOME/attnscope/new", "XDG_OTHER/new"})
    EXPECT_FALSE(make_output_folder(dir_ / other)) << other;
}

TEST_F(OutputFile, AFileIsNoFolderAndAFolderNoFile) {
  dir_.write("file", "x");
  const auto folder = make_output_folder(dir_ / "file");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, (dir_ / "file").string() + " is not a folder.");
  EXPECT_EQ(folder.error().hint, "Give a folder's path.");
  fs::create_directory(dir_ / "folder");
  for (const std::string name : {"folder", "folder/", "new/"}) {
    const auto file = write_output(dir_ / name, "x");
    ASSERT_FALSE(file) << name;
    EXPECT_NE(file.error().message.find(name == "new/" ? "does not exist" : "is a folder"), std::string::npos)
        << file.error().message;
  }
}

TEST_F(OutputFile, LongNamesAreWrittenOrRefused) {
  const fs::path longest = dir_ / std::string(255, 'n');
  dir_.write(longest.filename().string(), "old");
  ASSERT_TRUE(write_output(longest, "new"));
  EXPECT_EQ(read_text(longest), "new");
  EXPECT_FALSE(write_output(dir_ / std::string(256, 'n'), "x"));
  EXPECT_FALSE(make_output_folder(dir_ / std::string(256, 'n')));
  EXPECT_FALSE(write_output(dir_ / std::string(5000, 'n'), "x"));
}

TEST_F(OutputFile, WithoutRightsItIsRefusedAndTheOldFileStays) {
  dir_.write("own", "old");
  dir_.write("anyones", "old");
  dir_.write("shut/out", "old");
  ASSERT_EQ(chmod((dir_ / "own").c_str(), 0444), 0);
  ASSERT_EQ(chmod((dir_ / "anyones").c_str(), 0666), 0);
  ASSERT_EQ(chmod((dir_ / "shut").c_str(), 0), 0);
  const int failed = unprivileged(dir_.path(), fs::perms(0555), [&] {
    if (write_output(dir_ / "own", "new")) return 1;
    if (write_file(dir_ / "own", "new")) return 2;
    if (write_output(dir_ / "new", "new")) return 3;
    if (write_output(dir_ / "shut/out", "new")) return 4;
    if (make_output_folder(dir_ / "shut/folder")) return 5;
    if (!write_output(dir_ / "anyones", "new")) return 6;  // in place: its folder takes no new file
    return 0;
  });
  EXPECT_EQ(failed, 0);
  ASSERT_EQ(chmod((dir_ / "shut").c_str(), 0755), 0);
  EXPECT_EQ(read_text(dir_ / "own"), "old");
  EXPECT_EQ(read_text(dir_ / "shut/out"), "old");
  EXPECT_EQ(read_text(dir_ / "anyones"), "new");
}

TEST_F(OutputFile, WhatCannotBeSeenIsNotTakenForNoFile) {
  dir_.write("shut/file", "text");
  EXPECT_EQ(*read_file_if_any(dir_ / "shut/file", 100), "text");
  EXPECT_FALSE(*read_file_if_any(dir_ / "shut/none", 100));
  EXPECT_FALSE(*read_file_if_any(dir_ / "shut/file/below", 100));
  ASSERT_EQ(chmod((dir_ / "shut").c_str(), 0), 0);
  const int failed =
      unprivileged(dir_.path(), fs::perms(0755), [&] { return read_file_if_any(dir_ / "shut/file", 100) ? 1 : 0; });
  ASSERT_EQ(chmod((dir_ / "shut").c_str(), 0755), 0);
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace attnscope::platform
