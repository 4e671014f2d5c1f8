#include "store/saved_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temp_dir.h"

namespace attnscope::store {
namespace {

class SavedSessions : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& title) {
    Preset session;
    session.kernel = "tiled";
    session.title = title;
    session.view = Json{{"runs", runs_to_json({{"a", 10.5}, {"b", 20}})}};
    const auto path = write_session(folder_, session, {});
    EXPECT_TRUE(path) << path.error().message;
    return path.value_or("");
  }
  std::vector<std::string> titles(const std::filesystem::path& folder) {
    std::vector<Failure> faults;
    std::vector<std::string> titles;
    for (const PresetFile& file : list_presets(folder, "", faults)) titles.push_back(file.title);
    EXPECT_TRUE(faults.empty());
    return titles;
  }
  testing_support::TempDir dir_;
  std::filesystem::path folder_ = dir_ / "sessions";
};

TEST_F(SavedSessions, OneOfATitleIsReplacedAndOthersKeepApart) {
  const auto first = write("For the talk"), again = write("For the talk"), other = write("for the talk!");
  EXPECT_EQ(first, again);
  EXPECT_EQ(titles(folder_ / "deleted").size(), 1U) << "what was replaced is in the bin";
  EXPECT_NE(first, other) << "another title of the same letters";
  EXPECT_THAT(titles(folder_), testing::UnorderedElementsAre("For the talk", "for the talk!"));
  EXPECT_EQ(write("../../etc").parent_path(), folder_) << "a title is no path";
}

TEST_F(SavedSessions, ADeletedOneIsTakenBackEvenIfItsNameIsTaken) {
  const auto path = write("talk");
  const auto aside = put_preset_aside(path);
  ASSERT_TRUE(aside) << aside.error().message;
  EXPECT_TRUE(titles(folder_).empty());
  EXPECT_EQ(titles(folder_ / "deleted"), std::vector<std::string>{"talk"});
  write("talk");
  const auto back = take_session_back(*aside);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(titles(folder_).size(), 2U);
  EXPECT_FALSE(take_session_back(*aside)) << "it is there no more";
}

TEST_F(SavedSessions, RunsAreReadBackAndNonsenseIsLeftOut) {
  const Json view{{"runs", Json::array({Json{{"hash", "a"}, {"at", 1.5}}, Json{{"hash", 3}, {"at", 1}}, "x"})}};
  const auto runs = runs_in(view);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_TRUE(runs[0].is("a", 1.6)) << "the history's clock is a little ahead of the file's";
  EXPECT_FALSE(runs[0].is("a", 10));
  EXPECT_FALSE(runs[0].is("b", 1.5));
  EXPECT_TRUE(runs_in(Json()).empty());
  EXPECT_EQ(runs_to_json(std::vector<NamedRun>(kMostNamedRuns + 5)).size(), kMostNamedRuns);
}

}  // namespace
}  // namespace attnscope::store
