#include "platform/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "support/sanitized.h"
#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

class Memory : public testing::Test {
 protected:
  ~Memory() override { inject_available_memory(std::nullopt); }
  // What a system with these files reports.
  std::optional<uint64_t> available() const {
    return available_memory({folder / "meminfo", folder / "own_groups", folder / "groups"});
  }
  void group(const std::string& name, const std::string& most, const std::string& used, const std::string& stat) const {
    folder.write("groups/" + name + "/memory.max", most);
    folder.write("groups/" + name + "/memory.current", used);
    if (!stat.empty()) folder.write("groups/" + name + "/memory.stat", stat);
  }
  testing_support::TempDir folder;
};

TEST_F(Memory, TheSystemSaysWhatIsLeft) {
  const auto left = available_memory();
  ASSERT_TRUE(left);
  EXPECT_GT(*left, 1u << 20);
  EXPECT_LT(*left, uint64_t{1} << 50);
}

TEST_F(Memory, AMachineThatDoesNotSayHasNoFigureAndHoldsNothingBack) {
  EXPECT_FALSE(available());
  folder.write("meminfo", "MemTotal: 100 kB\nMemAvailable:\n");
  folder.write("own_groups", "0::/task\n");
  EXPECT_FALSE(available()) << "there are no such groups either";
}

TEST_F(Memory, TheMachineCountsInKilobytes) {
  folder.write("meminfo", "MemTotal:       1000000 kB\nMemFree:  2000 kB\nMemAvailable:    5000 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(available(), 5000u * 1024);
}

TEST_F(Memory, AGroupAllowsItsLimitLessWhatIsHeldWithoutFilePages) {
  folder.write("own_groups", "0::/task\n");
  group("task", "10000\n", "4000\n", "anon 2500\nfile_mapped 7\nfile 1500\n");
  EXPECT_EQ(available(), 10000u - (4000 - 1500));
  group("task", "10000\n", "4000\n", "file 5000\n");  // more file pages than the group holds now
  EXPECT_EQ(available(), 10000u);
  group("task", "3000\n", "4000\n", "file 100\n");  // the limit was lowered
  EXPECT_EQ(available(), 0u);
  std::filesystem::remove(folder / "groups/task/memory.stat");
  group("task", "10000\n", "4000\n", "");
  EXPECT_EQ(available(), 6000u);
  group("task", "max\n", "4000\n", "file 0\n");
  EXPECT_FALSE(available()) << "no limit is no figure";
}

TEST_F(Memory, TheLeastOfTheMachineAndEveryGroupAboveCounts) {
  folder.write("meminfo", "MemAvailable: 50 kB\n");
  folder.write("own_groups", "0::/outer/inner\n");
  EXPECT_EQ(available(), 50u * 1024);
  group("outer/inner", "40000\n", "0\n", "file 0\n");
  EXPECT_EQ(available(), 40000u);
  group("outer", "30000\n", "0\n", "file 0\n");
  EXPECT_EQ(available(), 30000u);
  folder.write("groups/memory.max", "20000\n");  // the root's, in a container
  folder.write("groups/memory.current", "0\n");
  EXPECT_EQ(available(), 20000u);
  folder.write("memory.max", "1\n");  // no group is above the root
  folder.write("memory.current", "0\n");
  EXPECT_EQ(available(), 20000u);
  folder.write("meminfo", "MemAvailable: 1 kB\n");
  EXPECT_EQ(available(), 1024u);
}

TEST_F(Memory, GroupsOfVersionOneStandBesideThoseOfVersionTwo) {
  group("task", "10000\n", "4000\n", "file 0\n");
  group("old", "5\n", "4\n", "file 0\n");
  folder.write("own_groups", "12:memory:/old\n1:name=systemd:/old\n0::/task\n");
  EXPECT_EQ(available(), 6000u);
}

TEST_F(Memory, WhatExceedsItIsRefusedWithBothFigures) {
  inject_available_memory(2'000'000'000);
  EXPECT_TRUE(hold_memory(2'000'000'000, "a tensor"));
  EXPECT_FALSE(hold_memory(2'000'000'001, "a tensor"));
  const auto refused = hold_memory(3'000'000'001, "a tensor");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::limits);
  EXPECT_EQ(refused.error().message, "a tensor would take 3.0 GB of this machine's memory; 2.0 GB are available");
  EXPECT_EQ(refused.error().hint, "Choose a smaller problem, or close other programs.");
}

TEST_F(Memory, ARefusedAllocationIsTheSameKindOfFailure) {
  const Failure failure = out_of_memory("the reference");
  EXPECT_EQ(failure.stage, Stage::limits);
  EXPECT_EQ(failure.message, "the reference: this machine's memory ran out");
  EXPECT_EQ(failure.hint, "Choose a smaller problem, or close other programs.");
}

// Bytes of memory that this process holds.
size_t resident() {
  std::ifstream pages("/proc/self/statm");
  size_t all = 0, held = 0;
  pages >> all >> held;
  return held * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(FreedMemory, LargePiecesThatAreFreedGoBackToTheSystem) {
  if (testing_support::kSanitized) GTEST_SKIP() << "the sanitizers have their own malloc";
  constexpr size_t kPiece = 1 << 20, kPieces = 64;
  give_back_freed_memory();
  std::vector<std::unique_ptr<char[]>> small;  // between the large ones, so that those are not the heap's end
  const auto grow_and_shrink = [&] {
    std::vector<std::unique_ptr<char[]>> large;
    for (size_t i = 0; i < kPieces; ++i) {
      large.emplace_back(new char[kPiece]);
      std::memset(large.back().get(), 1, kPiece);
      small.emplace_back(new char[64]);
    }
    const size_t most = resident();
    large.clear();
    return most - std::min(most, resident());
  };
  grow_and_shrink();  // glibc keeps pieces of a size that it has seen freed
  EXPECT_GT(grow_and_shrink(), kPiece * kPieces * 9 / 10);
}

}  // namespace
}  // namespace attnscope::platform
