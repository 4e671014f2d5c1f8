#include "cli/best_marks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "support/temp_dir.h"

namespace attnscope::cli {
namespace {

DeviceSpec device(const std::string& id, const std::string& name) {
  DeviceSpec spec;
  spec.id = id;
  spec.name = name;
  return spec;
}

TEST(BestMarksTest, AMarkIsOfOneKernelsTextProblemAndDevice) {
  const testing_support::TempDir folder;
  const auto file = folder.path() / "best";
  Kernel kernel, edited, other;
  kernel.id = edited.id = "mine";
  other.id = "other";
  edited.content_hash = "new";
  Problem problem, longer;
  longer.seq_q = 1024;
  const DeviceSpec here = device("cuda:0", "NVIDIA H200");
  const BestMarks marks(file, problem, here);
  EXPECT_FALSE(marks.begun(kernel));
  ASSERT_TRUE(marks.begin(kernel));
  EXPECT_TRUE(marks.begun(kernel));
  EXPECT_TRUE(BestMarks(file, problem, here).begun(kernel));
  EXPECT_FALSE(marks.begun(other));
  EXPECT_FALSE(marks.begun(edited));
  EXPECT_FALSE(BestMarks(file, problem, device("cuda:1", "NVIDIA H200")).begun(kernel));
  EXPECT_FALSE(BestMarks(file, problem, device("cuda:0", "NVIDIA L4")).begun(kernel));
  EXPECT_FALSE(BestMarks(file, longer, here).begun(kernel));
  marks.take(kernel);
  EXPECT_FALSE(marks.begun(kernel));
  marks.take(kernel);
}

TEST(BestMarksTest, ASearchHasEndedWithItsBudgetUntilAnotherBegins) {
  const testing_support::TempDir folder;
  Kernel kernel;
  kernel.id = "mine";
  const BestMarks marks(folder.path(), Problem{}, device("cuda:0", "NVIDIA L4"));
  EXPECT_EQ(marks.ended(kernel), 0u);
  ASSERT_TRUE(marks.begin(kernel));
  EXPECT_EQ(marks.ended(kernel), 0u);
  ASSERT_TRUE(marks.end(kernel, 24));
  EXPECT_EQ(marks.ended(kernel), 24u);
  EXPECT_FALSE(marks.begun(kernel));
  ASSERT_TRUE(marks.begin(kernel));
  EXPECT_EQ(marks.ended(kernel), 0u);
  EXPECT_TRUE(marks.begun(kernel));
}

TEST(BestMarksTest, TheOldestOfEndedSearchesGo) {
  const testing_support::TempDir folder;
  const auto marks = [&](int64_t rows) {
    Problem problem;
    problem.seq_q = rows;
    return BestMarks(folder.path(), problem, device("cuda:0", "NVIDIA L4"), 3);
  };
  const Kernel kernel;
  const auto age_all = [&] {  // a clock may advance in steps longer than a write
    for (const auto& mark : std::filesystem::directory_iterator(folder.path()))
      std::filesystem::last_write_time(mark, mark.last_write_time() - std::chrono::hours(1));
  };
  ASSERT_TRUE(marks(1).begin(kernel));
  for (int64_t rows = 2; rows <= 5; ++rows) {
    age_all();
    ASSERT_TRUE(marks(rows).end(kernel, 24));
  }
  EXPECT_TRUE(marks(1).begun(kernel)) << "its search is not done";
  EXPECT_EQ(marks(2).ended(kernel), 0u);
  EXPECT_EQ(marks(3).ended(kernel), 0u);
  EXPECT_EQ(marks(4).ended(kernel), 24u);
  EXPECT_EQ(marks(5).ended(kernel), 24u);
}

}  // namespace
}  // namespace attnscope::cli
