#include "emulator/exec/counters.h"

#include <gtest/gtest.h>

namespace attnscope::emulator {
namespace {

TEST(Counters, EveryClassThatRanIsNamed) {
  RunCounters sums;
  sums.warp_instructions = 12;
  sums.by_class[static_cast<size_t>(InstructionClass::fp32)] = 10;
  sums.by_class[static_cast<size_t>(InstructionClass::barrier)] = 2;
  sums.threads = 300;
  sums.shared_load_wavefronts = 8;
  sums.shared_other_wavefronts = 1;
  sums.shared_ideal_wavefronts = 2;
  sums.shared_bank_conflicts = 6;
  sums.ctas = 1;
  sums.total_ctas = 4;
  const Counters counters = counters_of(sums);
  EXPECT_EQ(counters.kind, FigureKind::counted);
  EXPECT_EQ(counters.instructions, (std::map<std::string, int64_t>{{"total", 12}, {"fp32", 10}, {"barrier", 2}}));
  EXPECT_DOUBLE_EQ(counters.active_lanes_mean, 25);
  EXPECT_DOUBLE_EQ(counters.sampled_fraction, 0.25);
  EXPECT_EQ(counters.shared_wavefronts, 9);
  EXPECT_EQ(counters.shared_wavefronts - counters.shared_wavefronts_ideal, counters.shared_bank_conflicts);
}

}  // namespace
}  // namespace attnscope::emulator
