#include "platform/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JsonFile, IsRead) {
  testing_support::TempDir dir;
  const auto json = read_json(dir.write("a.json", R"({"a": 1})"), 100, Stage::catalog);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(*json, (Json{{"a", 1}}));
}

TEST(JsonFile, EveryFaultIsOfTheStageAndNamesTheFile) {
  testing_support::TempDir dir;
  for (const auto& file :
       {dir.write("large.json", std::string(101, ' ')), dir.write("broken.json", "{"), dir / "none"}) {
    const auto json = read_json(file, 100, Stage::catalog);
    ASSERT_FALSE(json) << file;
    EXPECT_EQ(json.error().stage, Stage::catalog);
    EXPECT_THAT(json.error().message, HasSubstr(file.string()));
  }
}

TEST(JsonFile, AFoldersJsonFilesAreInOrder) {
  testing_support::TempDir dir;
  for (const char* name : {"b.json", "a.json", "c.txt", "c.JSON"}) dir.write(name, "{}");
  std::error_code error;
  EXPECT_THAT(json_files_in(dir.path(), error), ElementsAre(dir / "a.json", dir / "b.json"));
  EXPECT_FALSE(error);
  EXPECT_THAT(json_files_in(dir / "none", error), ElementsAre());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace attnscope::platform
