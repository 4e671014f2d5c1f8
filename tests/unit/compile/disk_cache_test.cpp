#include "compile/disk_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "platform/atomic_file.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public testing::Test {
 protected:
  fs::path file(const std::string& key) const { return folder.path / (key + ".thing"); }
  TemporaryFolder folder;
  DiskCache cache{folder.path, "thing", 1000};
};

TEST_F(DiskCacheTest, GivesBackWhatWasPut) {
  const std::string payload("a\0b\nc", 5);
  EXPECT_FALSE(cache.get("k").payload);
  ASSERT_TRUE(cache.put("k", payload));
  EXPECT_EQ(cache.get("k").payload, payload);
  EXPECT_TRUE(cache.get("k").complaint.empty());
  EXPECT_FALSE(cache.get("other").payload);
}

TEST_F(DiskCacheTest, AnEmptyPayloadIsKeptToo) {
  ASSERT_TRUE(cache.put("k", ""));
  EXPECT_EQ(cache.get("k").payload, "");
}

TEST_F(DiskCacheTest, EveryTruncationIsRefusedByName) {
  ASSERT_TRUE(cache.put("k", "payload of some length"));
  const auto size = fs::file_size(file("k"));
  for (auto left = size - 1; left > 0; --left) {
    fs::resize_file(file("k"), left);
    const auto lookup = cache.get("k");
    EXPECT_FALSE(lookup.payload) << left;
    EXPECT_NE(lookup.complaint.find(file("k").string()), std::string::npos);
  }
}

TEST_F(DiskCacheTest, AnotherKindsFileIsRefused) {
  ASSERT_TRUE(cache.put("k", "payload"));
  fs::rename(file("k"), folder.path / "k.other");
  const DiskCache other(folder.path, "other", 1000);
  EXPECT_FALSE(other.get("k").payload);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoFirst) {
  const std::string payload(300, 'x');
  for (const char* key : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(cache.put(key, payload));
    const int age = 40 - 10 * (key[0] - 'a');
    fs::last_write_time(file(key), fs::file_time_type::clock::now() - std::chrono::minutes(age));
  }
  ASSERT_TRUE(cache.get("a").payload);  // used just now
  cache.trim();
  EXPECT_TRUE(fs::exists(file("a")));
  EXPECT_FALSE(fs::exists(file("b")));
  EXPECT_FALSE(fs::exists(file("c")));  // 4 × ~340 B; 1000 B hold two
  EXPECT_TRUE(fs::exists(file("d")));
}

TEST_F(DiskCacheTest, LeavesTheFilesOfOthersAlone) {
  const DiskCache none(folder.path, "thing", 0);
  std::ofstream(folder.path / "notes.txt") << "mine";
  ASSERT_TRUE(none.put("k", "payload"));
  none.trim();
  EXPECT_FALSE(fs::exists(file("k")));
  EXPECT_TRUE(fs::exists(folder.path / "notes.txt"));
}

TEST_F(DiskCacheTest, ClearsWhatADeadProcessLeftHalfWritten) {
  const fs::path old = folder.path / "k.thing.tmp.1.1", fresh = folder.path / "k.thing.tmp.2.1";
  std::ofstream(old) << "x";
  std::ofstream(fresh) << "x";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.trim();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(DiskCacheTest, AFullDiskIsAFailureAndTheOldEntryStays) {
  ASSERT_TRUE(cache.put("k", "old"));
  platform::inject_write_fault(platform::WriteFault{folder.path.string(), 5, ENOSPC});
  auto done = cache.put("k", "new");
  platform::inject_write_fault(std::nullopt);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::store);
  EXPECT_NE(done.error().message.find(file("k").string()), std::string::npos);
  EXPECT_EQ(cache.get("k").payload, "old");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path)) ++files;
  EXPECT_EQ(files, 1u);
}

TEST_F(DiskCacheTest, WritersAtOnceLeaveOneWholeEntry) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(cache.put("k", std::string(5000, letter)));
    });
  for (int i = 0; i < 200; ++i) {
    const auto lookup = cache.get("k");
    EXPECT_TRUE(lookup.complaint.empty());
    if (lookup.payload) {
      EXPECT_EQ(*lookup.payload, std::string(5000, lookup.payload->front()));
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(cache.get("k").payload);
}

TEST(DiskCacheOff, AnEmptyFolderKeepsNothing) {
  const DiskCache off({}, "thing", 1000);
  EXPECT_TRUE(off.put("k", "payload"));
  EXPECT_FALSE(off.get("k").payload);
  off.trim();
}

}  // namespace
}  // namespace attnscope::compile
