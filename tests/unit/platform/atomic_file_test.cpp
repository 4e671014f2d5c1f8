#include "platform/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>
#include <vector>

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() {
    std::string pattern = (fs::temp_directory_path() / "attnscope-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~AtomicFile() override {
    inject_write_fault(std::nullopt);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
    return count;
  }
  fs::path folder;
};

TEST_F(AtomicFile, WritesAndReadsWhole) {
  const fs::path file = folder / "a" / "b" / "file";
  const std::string text("one\0two", 7);
  for (const Durability durability : {Durability::synced, Durability::cached}) {
    ASSERT_TRUE(write_file(file, text, durability));
    EXPECT_EQ(read_file(file, 100).value(), text);
    ASSERT_TRUE(write_file(file, "", durability));
    EXPECT_EQ(read_file(file, 100).value(), "");
  }
}

TEST_F(AtomicFile, AFullDiskLeavesTheOldFileAndNoOther) {
  const fs::path file = folder / "file";
  ASSERT_TRUE(write_file(file, "old"));
  for (const uint64_t after : {0, 1, 4}) {
    inject_write_fault(WriteFault{"file", after, ENOSPC});
    auto done = write_file(file, "newer");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().stage, Stage::store);
    EXPECT_NE(done.error().message.find(file.string()), std::string::npos);
    EXPECT_NE(done.error().hint.find("space"), std::string::npos);
  }
  inject_write_fault(std::nullopt);
  EXPECT_EQ(read_file(file, 100).value(), "old");
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(write_file(file, "newer"));
}

TEST_F(AtomicFile, AReaderNeverSeesHalf) {
  const fs::path file = folder / "file";
  ASSERT_TRUE(write_file(file, std::string(100000, 'a'), Durability::cached));
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i)
      EXPECT_TRUE(write_file(file, std::string(100000, static_cast<char>('a' + i % 26)), Durability::cached));
  });
  for (int i = 0; i < 200; ++i) {
    auto text = read_file(file, 1 << 20);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, std::string(100000, text->front()));
  }
  writer.join();
}

TEST_F(AtomicFile, RefusesToReadWhatIsTooLargeOrNoFile) {
  const fs::path file = folder / "file", fifo = folder / "fifo";
  ASSERT_TRUE(write_file(file, "12345"));
  EXPECT_TRUE(read_file(file, 5));
  auto text = read_file(file, 4);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().stage, Stage::store);
  EXPECT_EQ(text.error().message, file.string() + " has 5 bytes, over the limit of 4.");
  auto no_file = read_file(folder, 100);
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().message, folder.string() + " is not a file.");
  EXPECT_FALSE(read_file(folder / "nowhere", 100));
  EXPECT_FALSE(read_file("/dev/zero", 100));
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(read_file(fifo, 100));  // without waiting for a writer
}

TEST_F(AtomicFile, WhatIsNotThereIsNoFailureWhereItMayBeMissing) {
  ASSERT_TRUE(write_file(folder / "file", "12345"));
  EXPECT_EQ(read_file_if_any(folder / "none", 100).value(), std::nullopt);
  EXPECT_EQ(read_file_if_any(folder / "file/below", 100).value(), std::nullopt);
  EXPECT_EQ(read_file_if_any(folder / "file", 5).value(), "12345");
  EXPECT_FALSE(read_file_if_any(folder / "file", 4));
  EXPECT_FALSE(read_file_if_any(folder, 100));
}

TEST_F(AtomicFile, EachTemporaryFileHasANameOfItsOwnBesideIts) {
  const std::string first = temporary_beside(folder / "file"), second = temporary_beside(folder / "file");
  EXPECT_NE(first, second);
  for (const std::string& name : {first, second})
    EXPECT_TRUE(name.starts_with((folder / "file").string() + ".tmp." + std::to_string(getpid()) + ".")) << name;
}

TEST_F(AtomicFile, AnEarlierErrorIsNotTakenForItsOwn) {
  const fs::path file = folder / "file";
  for (const int before : {EINTR, EIO}) {
    errno = before;
    ASSERT_TRUE(write_file(file, "text"));
    errno = before;
    EXPECT_EQ(read_file(file, 100).value(), "text");
  }
}

TEST_F(AtomicFile, AFolderThatCannotBeMadeIsNamed) {
  ASSERT_TRUE(write_file(folder / "file", "x"));
  auto done = write_file(folder / "file" / "below", "x");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("below"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::platform
