// Cooperative launches: CTAs that wait for each other, in SASS as NVRTC 13.0 makes of cooperative_groups' grid.sync().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "emulator/watch/touch_log.h"
#include "platform/memory.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kThreads = 64;

// R0: the thread's number in the grid; R4:R5: the address of its word in `out`; R9 and R8: its CTA and thread.
const char* const kBegin = R"(S2R R9, SR_CTAID.X
S2R R8, SR_TID.X
IMAD R0, R9, c[0x0][0x0], R8
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
)";

// Barrier `name` of the grid: thread 0 of each CTA adds 1, CTA 0's the rest of 2^31, and waits until the top bit flips.
std::string grid_sync(const std::string& name) {
  return fmt::format(R"(ISETP.NE.U32.AND P0, PT, RZ, c[0x0][0x90], PT
ISETP.NE.AND.EX P0, PT, RZ, c[0x0][0x8c], PT, P0
@P0 BRA `({0}_valid)
BPT.TRAP 0x1
{0}_valid:
BAR.SYNC 0x0
BSSY B0, `({0}_join)
ISETP.NE.AND P0, PT, R8, RZ, PT
@P0 BRA `({0}_join)
MOV R10, c[0x0][0x90]
MOV R11, c[0x0][0x8c]
MOV R12, 0x80000001
IADD3 R12, R12, -c[0x0][0xc], RZ
ISETP.NE.AND P1, PT, R9, RZ, PT
SEL R12, R12, 0x1, !P1
MEMBAR.ALL.GPU
ATOM.E.ADD.STRONG.GPU PT, R12, [R10.64+0x4], R12
{0}_again:
LD.E.STRONG.GPU R13, [R10.64+0x4]
CCTL.IVALL
LOP3.LUT R13, R13, R12, RZ, 0x3c, !PT
ISETP.GT.AND P0, PT, R13, -0x1, PT
@P0 BRA `({0}_again)
{0}_join:
BSYNC B0
BAR.SYNC 0x0
)",
                     name);
}

// R3 = the word at out[most - R0], which the last CTA stores for the first.
const char* const kReadMirrored = R"(MOV R6, c[0x0][0x168]
IADD3 R6, R6, -R0, RZ
IMAD.WIDE R6, R6, R2, c[0x0][0x160]
LDG.E R3, [R6.64]
)";
// Each thread stores its number, and after the barrier reads another CTA's and stores the sum with 1000.
std::string mirrored(const std::string& barrier, const std::string& last_barrier) {
  return kBegin + std::string("STG.E [R4.64], R0\n") + barrier + kReadMirrored + last_barrier +
         "IADD3 R3, R3, 0x3e8, RZ\nSTG.E [R4.64], R3\nEXIT\n";
}
std::string mirrored() { return mirrored(grid_sync("one"), grid_sync("two")); }

struct Ran {
  std::vector<uint32_t> out;
  Result<RunResult> result;
};

struct Grid {
  uint32_t ctas = 5;
  bool cooperative = true;
  uint32_t shared_bytes = 0;
  RunOptions options = {};
};

template <class Do>
auto with_launch(const std::string& text, const Grid& grid, std::vector<uint32_t>& out, Do run_it) {
  out.assign(grid.ctas * kThreads, 0);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(text, {.parameter_bytes = 12, .static_shared_bytes = grid.shared_bytes});
  launch.grid = {grid.ctas, 1, 1};
  launch.block = {kThreads, 1, 1};
  launch.cooperative = grid.cooperative;
  launch.parameters =
      Parameters().pointer(memory.add("out", bytes_of(out), true)).word(static_cast<uint32_t>(out.size() - 1)).bytes();
  launch.memory = &memory;
  return run_it(launch);
}

Ran run_text(const std::string& text, const Grid& grid = {}) {
  Ran ran{{}, fail(Stage::internal, "not run")};
  ran.result = with_launch(text, grid, ran.out, [&](const Launch& launch) { return run(launch, grid.options); });
  return ran;
}

void expect_mirrored(const Ran& ran) {
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < ran.out.size(); ++i) EXPECT_EQ(ran.out[i], 1000 + ran.out.size() - 1 - i) << i;
}

TEST(Together, EveryCtaPassesTheGridsBarrier) {
  for (const uint32_t ctas : {1u, 2u, 5u, 40u}) {
    SCOPED_TRACE(ctas);
    const Ran ran = run_text(mirrored(), {.ctas = ctas});
    expect_mirrored(ran);
    EXPECT_EQ(ran.result->counters.ctas, ctas);
    EXPECT_EQ(ran.result->counters.total_ctas, ctas);
  }
}

TEST(Together, CountsAreTheSameEveryTime) {
  Grid grid{.ctas = 7};
  const Ran one = run_text(mirrored(), grid);
  grid.options.threads = 3;
  const Ran other = run_text(mirrored(), grid);
  expect_mirrored(one);
  ASSERT_TRUE(other.result.has_value());
  EXPECT_EQ(one.result->counters, other.result->counters);
  // A CTA that waits gives way instead of spinning: each of the two barriers is polled a few times by each CTA.
  for (uint32_t i = 0; i < one.result->instructions.size(); ++i) EXPECT_LE(one.result->instructions[i].issued, 7 * 6u);
}

TEST(Together, AnyOrderGivesTheSame) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Grid grid{.ctas = 6};
    grid.options.order_seed = seed;
    expect_mirrored(run_text(mirrored(), grid));
  }
}

TEST(Together, WithoutACooperativeLaunchItTraps) {
  const Ran ran = run_text(mirrored(), {.cooperative = false});
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_THAT(ran.result.error().message, HasSubstr("trap"));
  EXPECT_THAT(ran.result.error().hint, HasSubstr("\"cooperative\": true"));
}

TEST(Together, ACtaThatReturnsWithoutTheBarrierIsADeadlock) {
  const std::string text =
      kBegin + std::string("ISETP.EQ.AND P0, PT, R9, 0x2, PT\n@P0 EXIT\n") + grid_sync("one") + "EXIT\n";
  const Ran ran = run_text(text);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().kind, FailureKind::deadlock);
  EXPECT_EQ(ran.result.error().stage, Stage::deadline);
  EXPECT_THAT(ran.result.error().message, HasSubstr("a CTA has ended, and 4 wait for it. In CTA (0, 0, 0)"));
  EXPECT_THAT(ran.result.error().message, HasSubstr("warp 0 waits for LD at k.cu:"));
  EXPECT_THAT(ran.result.error().message, HasSubstr("warp 1 waits for BAR at k.cu:"));
  EXPECT_THAT(ran.result.error().hint, HasSubstr("as often as the others"));
}

TEST(Together, CtasThatWaitForEachOtherElsewhereAreADeadlock) {
  // CTA 0 waits for a word that nothing writes, the others at the grid's barrier.
  const std::string text = kBegin + std::string(R"(ISETP.NE.AND P0, PT, R9, RZ, PT
@P0 BRA `(sync)
spin:
LDG.E.STRONG.SYS R3, [R4.64]
ISETP.EQ.AND P0, PT, R3, RZ, PT
@P0 BRA `(spin)
sync:
)") + grid_sync("one") + "EXIT\n";
  const Ran ran = run_text(text);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().kind, FailureKind::deadlock);
  EXPECT_THAT(ran.result.error().message, HasSubstr("all of its CTAs wait for each other"));
}

// Each thread reads its word 2,000 times and then stores that number there.
std::string counting_poll() {
  return kBegin + std::string(R"(MOV R3, RZ
again:
LDG.E.STRONG.SYS R6, [R4.64]
IADD3 R3, R3, 0x1, RZ
ISETP.LT.AND P0, PT, R3, 0x7d0, PT
@P0 BRA `(again)
STG.E [R4.64], R3
EXIT
)");
}

// Loops that read the same word again and again but do end are no deadlock.
TEST(Together, APollThatCountsIsNoDeadlock) {
  const Ran ran = run_text(counting_poll());
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (const uint32_t word : ran.out) EXPECT_EQ(word, 2000u);
}

TEST(Together, ADeadlockWithinACtaIsItsOwn) {
  const Ran ran = run_text(
      kBegin +
      std::string("ISETP.LT.AND P0, PT, R8, 0x20, PT\n@P0 BAR.SYNC 0x1, 0x40\n@!P0 BAR.SYNC 0x2, 0x40\nEXIT\n"));
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().kind, FailureKind::deadlock);
  EXPECT_THAT(ran.result.error().message, HasSubstr("deadlocks in CTA (0, 0, 0)"));
}

// CTA 1 waits for one arrival more than come, the other CTAs for it at the grid's barrier.
TEST(Together, ADeadlockAtAnMbarrierIsItsCtasOwn) {
  const std::string text = kBegin + std::string(R"(ISETP.NE.AND P0, PT, R9, 0x1, PT
@P0 BRA `(sync)
MOV R11, 0x41
IADD3 R10, -R11, 0x40000000, RZ
IADD3 R11, -R11, -0x80000000, RZ
ISETP.NE.AND P1, PT, R8, RZ, PT
@!P1 STS.64 [0x400], R10
BAR.SYNC 0x0
ATOMS.ARRIVE.64 R14, [URZ+0x400]
again:
LDS R12, [0x404]
ISETP.GE.AND P0, PT, R12, RZ, PT
@P0 BRA `(again)
sync:
)") + grid_sync("one") + "EXIT\n";
  const Ran ran = run_text(text, {.shared_bytes = 0x408});
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().kind, FailureKind::deadlock);
  EXPECT_THAT(ran.result.error().message, HasSubstr("deadlocks in CTA (1, 0, 0): warps 0, 1 wait for LDS at k.cu:"));
  EXPECT_THAT(ran.result.error().hint, HasSubstr("as many arrive as it was initialised with"));
}

// All CTAs and their watches exist at once.
TEST(Together, AWatchsMemoryCountsForEachCta) {
  Grid grid{.ctas = 40, .shared_bytes = 0x4000};
  const auto runs_with = [&](uint64_t bytes) {
    platform::inject_available_memory(bytes);
    const Ran ran = run_text(mirrored(), grid);
    platform::inject_available_memory(std::nullopt);
    if (!ran.result) {
      EXPECT_EQ(ran.result.error().stage, Stage::limits) << ran.result.error().message;
    }
    return ran.result.has_value();
  };
  uint64_t bytes = 1;
  while (!runs_with(bytes)) ASSERT_LT(bytes *= 2, uint64_t{1} << 40);
  EXPECT_GT(bytes, uint64_t{40} * 0x4000);
  grid.options.watch = true;
  EXPECT_FALSE(runs_with(bytes));
  EXPECT_TRUE(runs_with(bytes * 16));
}

TEST(Together, AWatchOrdersAccessesByTheGridsBarrier) {
  Grid grid{.ctas = 6};
  grid.options.watch = true;
  const Ran ran = run_text(mirrored(), grid);
  expect_mirrored(ran);
  for (const WatchFinding& finding : ran.result->findings) ADD_FAILURE() << finding.message;
}

TEST(Together, AMissingBarrierIsARaceOfTwoCtas) {
  Grid grid{.ctas = 6};
  grid.options.watch = true;
  for (const auto& [first, second] : {std::pair{std::string(), grid_sync("two")}, {grid_sync("one"), std::string()}}) {
    const Ran ran = run_text(mirrored(first, second), grid);
    ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
    ASSERT_FALSE(ran.result->findings.empty());
    for (const WatchFinding& finding : ran.result->findings)
      EXPECT_EQ(Rule(rule_of(finding.kind)).name(), "race.grid") << finding.message;
  }
}

// The barrier opens many times, and each opening orders what was before it and nothing behind.
TEST(Together, AWatchTellsOneOpeningOfTheBarrierFromTheNext) {
  constexpr int kRounds = 5;
  for (const int missing : {-1, 0, 3, 8}) {
    std::string text = kBegin;
    for (int i = 0; i < kRounds; ++i) {
      text += "IADD3 R14, R0, " + std::string(i == 0 ? "RZ" : "R3") + ", RZ\nSTG.E [R4.64], R14\n";
      if (missing != 2 * i) text += grid_sync("stored" + std::to_string(i));
      text += kReadMirrored;
      if (missing != 2 * i + 1) text += grid_sync("read" + std::to_string(i));
    }
    Grid grid{.ctas = 6};
    grid.options.watch = true;
    const Ran ran = run_text(text + "STG.E [R4.64], R3\nEXIT\n", grid);
    ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
    EXPECT_EQ(ran.result->findings.empty(), missing < 0) << missing;
    for (const WatchFinding& finding : ran.result->findings)
      EXPECT_EQ(Rule(rule_of(finding.kind)).name(), "race.grid") << finding.message;
  }
}

TEST(Together, ASampleIsRefused) {
  Grid grid;
  grid.options.ctas = {0, 1};
  const Ran ran = run_text(mirrored(), grid);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().stage, Stage::internal);
  grid.options.ctas.clear();
  grid.options.work_budget = 1;
  grid.ctas = 40;
  expect_mirrored(run_text(mirrored(), grid));
}

// No warp issues as much as the run may, but all of them together do long before they end.
TEST(Together, AProbingRunStopsAtItsWork) {
  const std::atomic<bool> cancel = false;
  for (const bool enough : {true, false}) {
    std::vector<uint32_t> out;
    const auto touches = with_launch(counting_poll(), {}, out, [&](const Launch& launch) {
      return touches_of(launch, enough ? 2'000'000 : 20'000, cancel);
    });
    EXPECT_EQ(touches.has_value(), enough);
    if (!touches) {
      EXPECT_EQ(touches.error().stage, Stage::deadline) << touches.error().message;
    }
    EXPECT_THAT(out, ::testing::Each(enough ? 2000u : 0u));
  }
}

TEST(Together, WhatAnotherCtaStoredBeforeIsNoInput) {
  std::vector<uint32_t> out;
  const std::atomic<bool> cancel = false;
  const auto touches =
      with_launch(mirrored(), {}, out, [&](const Launch& launch) { return touches_of(launch, 1'000'000, cancel); });
  ASSERT_TRUE(touches.has_value()) << touches.error().message;
  ASSERT_EQ(touches->buffers.size(), 1u);
  EXPECT_FALSE(touches->buffers[0].read_first);
  EXPECT_TRUE(touches->buffers[0].stored);
}

}  // namespace
}  // namespace attnscope::emulator::testing
