// When a read of a part of a vector that nothing wrote counts as an error, and what a finding says of its other side.
#include <gmock/gmock.h>

#include <algorithm>

#include "unit/worker/scripted_watch.h"

namespace attnscope::worker {
namespace {

constexpr WatchKind kKinds[] = {
    WatchKind::shared_write_write,      WatchKind::shared_write_read,    WatchKind::shared_read_write,
    WatchKind::warp_write_write,        WatchKind::warp_write_read,      WatchKind::warp_read_write,
    WatchKind::shared_copy_not_awaited, WatchKind::shared_never_written, WatchKind::local_never_written,
    WatchKind::barrier_uneven,          WatchKind::shuffle_absent_lane,  WatchKind::global_write_write,
    WatchKind::global_write_read,       WatchKind::global_read_write,    WatchKind::grid_write_write,
    WatchKind::grid_write_read,         WatchKind::grid_read_write,      WatchKind::global_never_written};

// Only another error of shared memory explains why the output depends on its contents.
TEST_F(WatchRunTest, ASuspectedReadIsLeftOutOnlyWhereAnErrorOfSharedMemoryExplainsIt) {
  device_.suspected = {of_kind(WatchKind::shared_part_never_written, "a part")};
  change_where([](const device::Trial& trial) { return trial.shared_fill == kNan; });
  for (const WatchKind kind : kKinds) {
    device_.findings = {of_kind(kind, "another")};
    const WatchReport all = report();
    const bool told = std::ranges::any_of(all.findings, [](const Finding& one) { return one.sentence == "a part"; });
    const RuleId rule = emulator::rule_of(kind);
    const bool explains =
        rule == RuleId::race_shared || rule == RuleId::race_copy || rule == RuleId::never_written_shared;
    EXPECT_EQ(told, !explains) << Rule(rule).name();
  }
}

// Each of its two sides is named, and none twice.
TEST_F(WatchRunTest, AFindingNamesItsOtherSideIfThereIsOne) {
  WatchFinding one = of_kind(WatchKind::shared_write_read, "a race");
  one.line = "k.cu:7", one.other_line = "k.cu:9";
  one.cta = one.other_cta = 7, one.thread = 3, one.other_thread = 5;
  const auto where = [&](uint32_t op, uint32_t other) {
    one.op = op, one.other = other;
    device_.findings = {one};
    return report().findings.at(0).where;
  };
  EXPECT_EQ(where(4, 4).count("other_line"), 0u) << "one instruction";
  const auto both = where(4, 6);
  EXPECT_EQ(both.at("file"), "k.cu");
  EXPECT_EQ(both.at("line"), "7");
  EXPECT_EQ(both.at("other_file"), "k.cu");
  EXPECT_EQ(both.at("other_line"), "9");
  EXPECT_EQ(both.at("threads"), "5, 3") << "the earlier access first";
  EXPECT_EQ(both.at("cta"), "2, 1, 0") << "of a grid of 5 by 3 by 2";
  EXPECT_EQ(both.count("other_cta"), 0u);
  one.other_thread = 3, one.other_cta = 29;
  const auto far = where(4, 6);
  EXPECT_EQ(far.at("threads"), "3");
  EXPECT_EQ(far.at("other_cta"), "4, 2, 1");
  EXPECT_EQ(far.count("buffer"), 0u);
  one.buffer = "y", one.buffer_byte = 12;
  EXPECT_EQ(where(4, 6).at("buffer"), "y");
  EXPECT_EQ(where(4, 6).at("element"), "byte 12");
  one.line = "unknown";
  EXPECT_EQ(where(4, 6).count("line"), 0u);
}

}  // namespace
}  // namespace attnscope::worker
