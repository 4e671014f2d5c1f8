#include "platform/aged_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "platform/atomic_file.h"
#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

std::string names(const std::vector<AgedFile>& files) {
  std::string all;
  for (const AgedFile& file : files) all += file.path.filename().string();
  return all;
}

TEST(AgedFiles, TheOldestGoUntilTheRestIsSmallEnough) {
  const testing_support::TempDir folder;
  std::filesystem::create_directory(folder.path() / "inner");
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& [name, hours, bytes] : {std::tuple("a", 1, 10), {"b", 3, 20}, {"c", 2, 30}}) {
    ASSERT_TRUE(write_file(folder.path() / name, std::string(size_t(bytes), 'x')));
    std::filesystem::last_write_time(folder.path() / name, now - std::chrono::hours(hours));
  }
  const auto files = files_by_age(folder.path());
  EXPECT_EQ(names(files), "bca");
  EXPECT_EQ(files.at(1).bytes, 30u);
  remove_oldest(files, 60);
  EXPECT_EQ(names(files_by_age(folder.path())), "bca");
  remove_oldest(files, 40);
  EXPECT_EQ(names(files_by_age(folder.path())), "ca");
  remove_oldest(files, 0);
  EXPECT_EQ(names(files_by_age(folder.path())), "");
  EXPECT_TRUE(files_by_age(folder.path() / "none").empty());
}

}  // namespace
}  // namespace attnscope::platform
