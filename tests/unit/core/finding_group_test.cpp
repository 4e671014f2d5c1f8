#include "core/finding_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace attnscope {
namespace {

TEST(FindingGroup, EveryRuleHasOne) {
  for (const RuleRow& row : kRules) EXPECT_NE(group_of(row.id), FindingGroup::other) << row.name;
  EXPECT_EQ(group_of(RuleId::occupancy_low), FindingGroup::launch);
  EXPECT_EQ(group_of(Rule::named("grid.to_come")), FindingGroup::launch) << "its family's";
  EXPECT_EQ(group_of(Rule::named("to_come.first")), FindingGroup::other);
  EXPECT_EQ(group_of(Rule()), FindingGroup::other);
}

TEST(FindingGroup, TheDocsListEveryFamily) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/docs/explaining.md");
  std::map<FindingGroup, std::string> rows;
  for (std::string line; std::getline(file, line);)
    for (const auto& [group, word] : Words<FindingGroup>::table)
      if (line.starts_with("| " + std::string(word) + " |")) rows[group] = line;
  for (const RuleRow& row : kRules) {
    const std::string family(row.name.substr(0, row.name.find('.')));
    EXPECT_THAT(rows[group_of(row.id)], testing::HasSubstr("`" + family + ".*`")) << row.name;
  }
}

}  // namespace
}  // namespace attnscope
