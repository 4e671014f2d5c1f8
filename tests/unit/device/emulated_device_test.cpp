#include "device/emulated/emulated_device.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/live_copy.h"

namespace attnscope::device {
namespace {

TEST(LiveCopy, CopiesEveryByteWhateverTheAlignment) {
  std::vector<std::byte> from(1003);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7);
  for (const size_t skip : {0u, 1u, 3u, 8u})
    EXPECT_EQ(live_copy(std::span(from).subspan(skip)),
              std::vector<std::byte>(from.begin() + static_cast<long>(skip), from.end()));
  EXPECT_TRUE(live_copy({}).empty());
}

TEST(Counters, EveryClassThatRanIsNamed) {
  emulator::RunCounters sums;
  sums.warp_instructions = 12;
  sums.by_class[static_cast<size_t>(emulator::InstructionClass::fp32)] = 10;
  sums.by_class[static_cast<size_t>(emulator::InstructionClass::barrier)] = 2;
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
}  // namespace attnscope::device
