// Bank conflicts of recorded accesses, replayed with another layout of the rows.
#include "explain/replayed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/rules.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using testing::HasSubstr;

// Lane n is in row n of rows of `row` bytes, at byte `column`.
SharedAccess down(int64_t row, int64_t bytes = 4, int64_t column = 0) {
  SharedAccess access;
  access.mask = 0xffffffff;
  access.bytes = bytes;
  for (int64_t lane = 0; lane < 32; ++lane) access.at[size_t(lane)] = lane * row + column;
  return access;
}
// Neighbouring lanes, neighbouring words.
SharedAccess across() { return down(4); }

class ReplayedAccesses : public testing::Test {
 protected:
  // The accesses of one instruction, each executed once by one warp.
  void record(int line, std::vector<SharedAccess> shapes) {
    SharedSteps& steps = shared_[uint32_t(&in_.at(line) - in_.facts.code.data())];
    steps.shapes = std::move(shapes);
    double taken = 0, needed = 0;
    for (size_t i = 0; i < steps.shapes.size(); ++i) {
      steps.steps.push_back({0, int64_t(i), int64_t(i), 0});
      taken += wavefronts_of(steps.shapes[i]).taken, needed += wavefronts_of(steps.shapes[i]).needed;
    }
    in_.at(line).wavefronts = 10 * taken, in_.at(line).ideal = 10 * needed;
    in_.facts.shared = &shared_;
  }
  Input in_;
  std::map<uint32_t, SharedSteps> shared_;
};

TEST_F(ReplayedAccesses, NothingRecordedOrNoRowsSaysNothing) {
  EXPECT_FALSE(replayed(in_.facts));
  record(kScore, {across()});
  EXPECT_FALSE(replayed(in_.facts)) << "no conflicts";
  record(kScore, {down(8)});  // two lanes on a bank, and no rows
  EXPECT_FALSE(replayed(in_.facts));
}

TEST_F(ReplayedAccesses, AColumnOfWordsIsFreeWithAWordBehindEachRow) {
  record(kScore, {down(128)});
  const auto left = replayed(in_.facts);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->padding, 4);
  EXPECT_DOUBLE_EQ(left->padded, 0);
  EXPECT_DOUBLE_EQ(left->swizzled, 3.0 / 31) << "eight chunks: four lanes stay on a bank";
}

TEST_F(ReplayedAccesses, AWideAccessNeedsWidePadding) {
  record(kScore, {down(128), down(128, 16)});
  const auto left = replayed(in_.facts);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->padding, 16);
  const double before = 31 + wavefronts_of(down(128, 16)).taken - wavefronts_of(down(128, 16)).needed;
  EXPECT_DOUBLE_EQ(left->padded, 3 / before) << "the words' column keeps four lanes on a bank";
}

// Each instruction counts by its executions, of which few are recorded.
TEST_F(ReplayedAccesses, InstructionsCountByTheirWavefronts) {
  record(kScore, {down(128)});
  record(kSum, {down(8)});  // stays as it is: 1 conflict for an access
  const auto left = replayed(in_.facts);
  ASSERT_TRUE(left);
  EXPECT_DOUBLE_EQ(left->padded, 10.0 / (310 + 10));
  in_.at(kSum).wavefronts *= 31;
  EXPECT_DOUBLE_EQ(replayed(in_.facts)->padded, 0.5);
}

TEST_F(ReplayedAccesses, TheFindingSaysWhatIsLeft) {
  in_.stall(TermKind::bank_conflicts, kScore, 30);
  record(kScore, {down(128)});
  const auto found = look(RuleId::bank_conflicts, in_.facts);
  ASSERT_TRUE(found);
  EXPECT_THAT(
      found->sentence,
      HasSubstr("with 4 bytes behind each row, the recorded accesses keep 0 % of the conflicts; with each row's "
                "chunks permuted, 9.68 %."));
}

}  // namespace
}  // namespace attnscope::explain
