#include "core/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace attnscope {
namespace {

TEST(FindingGroup, EveryRuleHasOne) {
  for (const RuleRow& row : kRules) {
    EXPECT_NE(row.group, FindingGroup::other) << row.name;
    EXPECT_EQ(row.group, Rule(row.id).group()) << row.name << ": a family has one group";
  }
  EXPECT_EQ(Rule(RuleId::occupancy_low).group(), FindingGroup::launch);
  EXPECT_EQ(Rule::named("grid.to_come").group(), FindingGroup::launch) << "its family's";
  EXPECT_EQ(Rule::named("to_come.first").group(), FindingGroup::other);
  EXPECT_EQ(Rule().group(), FindingGroup::other);
}

TEST(FindingGroup, TheDocsListEveryFamily) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/docs/explaining.md");
  std::map<FindingGroup, std::string> rows;
  for (std::string line; std::getline(file, line);)
    for (const auto& [group, word] : Words<FindingGroup>::table)
      if (line.starts_with("| " + std::string(word) + " |")) rows[group] = line;
  for (const RuleRow& row : kRules) {
    const std::string family(row.name.substr(0, row.name.find('.')));
    EXPECT_THAT(rows[Rule(row.id).group()], testing::HasSubstr("`" + family + ".*`")) << row.name;
  }
}

}  // namespace
}  // namespace attnscope
