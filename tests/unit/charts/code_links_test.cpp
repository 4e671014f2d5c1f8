#include "charts/code_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;

CodeLine line(std::vector<int64_t> writes, std::vector<int64_t> reads) {
  CodeLine made;
  made.reads = std::move(reads);
  made.writes = std::move(writes);
  return made;
}

TEST(CodeLinks, TheLastWriterOfEachValueIsItsProducer) {
  Listing code;
  code.lines = {line({4}, {}), line({5}, {}), line({4}, {}), line({6}, {4, 5})};
  const CodeGraph graph(code);
  EXPECT_THAT(graph.producers_of(3), ElementsAre(CodeLink{1, "R5"}, CodeLink{2, "R4"}));
  EXPECT_THAT(graph.consumers_of(1), ElementsAre(CodeLink{3, "R5"}));
  EXPECT_TRUE(graph.consumers_of(0).empty()) << "its R4 is overwritten";
}

TEST(CodeLinks, AGuardedWriterMayLeaveTheValue) {
  Listing code;
  code.lines = {line({4}, {}), line({4}, {code_value::kPredicate}), line({}, {4})};
  code.lines[1].guarded = true;
  const CodeGraph graph(code);
  EXPECT_THAT(graph.producers_of(2), ElementsAre(CodeLink{0, "R4"}, CodeLink{1, "R4"}));
  EXPECT_THAT(graph.consumers_of(0), ElementsAre(CodeLink{2, "R4"}));
}

TEST(CodeLinks, ValuesComeAroundALoopAndOverBothArms) {
  Listing code;  // 0 writes R1; 1 reads R1 and R2; 2 writes R2 and jumps back to 1; 3 ends
  code.lines = {line({1}, {}), line({}, {1, 2}), line({2}, {}), line({}, {})};
  code.lines[2].targets = {1};
  const CodeGraph graph(code);
  EXPECT_THAT(graph.producers_of(1), ElementsAre(CodeLink{0, "R1"}, CodeLink{2, "R2"}));
  code.lines[0].falls_through = false;  // control does not fall through from 0 to 1
  EXPECT_THAT(CodeGraph(code).producers_of(1), ElementsAre(CodeLink{2, "R2"}));
}

TEST(CodeLinks, AScoreboardLeadsToWhatReleasesIt) {
  Listing code;
  code.lines = {line({4}, {}), line({8}, {}), line({}, {}), line({}, {4}), line({}, {8})};
  code.lines[0].control.write_barrier = 2;
  code.lines[1].control.read_barrier = 2;
  code.lines[3].control.wait_mask = 1 << 2;
  code.lines[4].control.wait_mask = 1 << 2;
  const CodeGraph graph(code);
  EXPECT_THAT(graph.producers_of(3), ElementsAre(CodeLink{0, "R4, scoreboard 2"}, CodeLink{1, "scoreboard 2"}));
  EXPECT_THAT(graph.producers_of(4), ElementsAre(CodeLink{1, "R8"})) << "3 has waited for the scoreboard";
  EXPECT_THAT(graph.consumers_of(1), ElementsAre(CodeLink{3, "scoreboard 2"}, CodeLink{4, "R8"}));
}

TEST(CodeLinks, ARegisterLivesFromItsWriterToItsLastReader) {
  Listing code;
  code.lines = {line({1}, {}), line({2}, {1}), line({code_value::kPredicate}, {1, 2}), line({}, {2}), line({}, {})};
  EXPECT_THAT(CodeGraph(code).live_registers(), ElementsAre(0, 1, 2, 1, 0));
  code.lines[3].targets = {1};  // a loop in which R1 is read again
  EXPECT_THAT(CodeGraph(code).live_registers(), ElementsAre(0, 1, 2, 2, 0));
}

}  // namespace
}  // namespace attnscope::charts
