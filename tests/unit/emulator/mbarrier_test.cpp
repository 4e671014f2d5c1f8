// mbarriers: threads and their copies arrive, and waits order what follows. In SASS as NVRTC makes of it for sm_80 and
// sm_90.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kThreads = 64;

// The parts of a kernel in which each thread fills its word of shared memory and reads that of the thread 63 - tid.
struct Parts {
  const char* begin;         // R8: tid, R9: the address of its word in shared memory, R4:R5, R6:R7: of out and in
  const char* init;          // by thread 0: `count` arrivals
  const char* copy;          // an asynchronous copy
  const char* store;         // the same with registers
  const char* copies_count;  // the copies' arrivals come in addition to those of the threads
  const char* copies_arrive_too;
  const char* copies_arrive;  // instead of the threads
  const char* arrive;
  const char* wait;  // for the first phase
  const char* read;  // and store the sum with 1000
};

const Parts k80{.begin = R"(S2R R8, SR_TID.X
MOV R2, 0x4
IMAD.WIDE R4, R8, R2, c[0x0][0x160]
IMAD.WIDE R6, R8, R2, c[0x0][0x168]
IMAD R9, R8, R2, RZ
)",
                .init = R"(ISETP.NE.AND P0, PT, R8, RZ, PT
MOV R11, {0:#x}
IADD3 R10, -R11, 0x40000000, RZ
IADD3 R11, -R11, -0x80000000, RZ
@!P0 STS.64 [0x400], R10
)",
                .copy = "LDGSTS.E [R9], [R6.64]\n",
                .store = "LDG.E R3, [R6.64]\nSTS [R9], R3\n",
                .copies_count = "MOV R12, 0xffffffff\nATOMS.ADD.S32 RZ, [0x404], R12\n",
                .copies_arrive_too = "ARRIVES.LDGSTSBAR.64 [URZ+0x400]\n",
                .copies_arrive = "ARRIVES.LDGSTSBAR.64 [URZ+0x400]\n",
                .arrive = "ATOMS.ARRIVE.64 R14, [URZ+0x400]\n",
                .wait = R"(again:
LDS R12, [0x404]
ISETP.GE.AND P0, PT, R12, RZ, PT
@P0 BRA `(again)
)",
                .read = R"(MOV R13, 0xfc
IADD3 R13, R13, -R9, RZ
LDS R3, [R13]
IADD3 R3, R3, 0x3e8, RZ
STG.E [R4.64], R3
EXIT
)"};
const Parts k90{.begin = R"(S2R R8, SR_TID.X
ULDC.64 UR10, c[0x0][0x208]
MOV R2, 0x4
LDC.64 R4, c[0x0][0x210]
LDC.64 R6, c[0x0][0x218]
IMAD.WIDE R4, R8, R2, R4
IMAD.WIDE R6, R8, R2, R6
IMAD R9, R8, R2, RZ
IADD3 R9, R9, 0x400, RZ
UMOV UR7, 0x800
)",
                .init = R"(ISETP.GE.AND P0, PT, R8, 0x20, PT
UMOV UR4, {0:#x}
UIADD3 UR4, -UR4, 0x100000, URZ
USHF.L.U32 UR5, UR4, 0xb, URZ
USHF.L.U32 UR4, UR4, 0x1, URZ
@P0 BRA `(there)
SYNCS.EXCH.64 URZ, [UR7], UR4
there:
)",
                .copy = "LDGSTS.E [R9], desc[UR10][R6.64]\n",
                .store = "LDG.E R3, desc[UR10][R6.64]\nSTS [R9], R3\n",
                .copies_count = "SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [UR7], RZ\n",
                .copies_arrive_too = "ARRIVES.LDGSTSBAR.64.TRANSCNT [UR7]\n",
                .copies_arrive = "ARRIVES.LDGSTSBAR.64.ARVCNT [UR7]\n",
                .arrive = "SYNCS.ARRIVE.TRANS64.A1T0 R14, [UR7], RZ\n",
                .wait = R"(again:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR7], RZ
@!P0 BRA `(again)
)",
                .read = R"(MOV R13, 0x8fc
IADD3 R13, R13, -R9, RZ
LDS R3, [R13]
IADD3 R3, R3, 0x3e8, RZ
STG.E desc[UR10][R4.64], R3
EXIT
)"};
constexpr const char* kBarrier = "BAR.SYNC 0x0\n";

struct Ran {
  std::vector<uint32_t> out = std::vector<uint32_t>(kThreads);
  Result<RunResult> result = fail(Stage::internal, "not run");
};

Ran run_text(const std::string& text, uint32_t arch, bool watch, uint64_t order_seed = 0) {
  Ran ran;
  std::vector<uint32_t> in(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) in[i] = 7 * i;
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(text, {.arch = arch, .parameter_bytes = 16, .static_shared_bytes = 0x408});
  if (launch.program == nullptr) return ran;
  launch.block = {kThreads, 1, 1};
  launch.parameters = Parameters()
                          .pointer(memory.add("out", bytes_of(ran.out), true))
                          .pointer(memory.add("in", bytes_of(in), false))
                          .bytes();
  launch.memory = &memory;
  RunOptions options;
  options.watch = watch;
  options.order_seed = order_seed;
  ran.result = run(launch, options);
  return ran;
}

class Mbarrier : public ::testing::TestWithParam<uint32_t> {
 protected:
  const Parts& p() const { return GetParam() == 80 ? k80 : k90; }
  std::string init(uint32_t arrivals = kThreads) const {
    return p().begin + fmt::format(fmt::runtime(p().init), arrivals);
  }
  Ran ran(const std::string& text) const { return run_text(text, GetParam(), true); }
  // Runs it; the rules of the findings.
  std::set<std::string> rules(const std::string& text) const {
    const Ran one = ran(text);
    std::set<std::string> all;
    if (!one.result) ADD_FAILURE() << one.result.error().message;
    if (one.result)
      for (const WatchFinding& finding : one.result->findings) all.emplace(Rule(rule_of(finding.kind)).name());
    return all;
  }
  void expect_sound(const std::string& text) const {
    const Ran one = ran(text);
    ASSERT_TRUE(one.result.has_value()) << one.result.error().message;
    for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(one.out[i], 1000 + 7 * (63 - i)) << i;
    for (const WatchFinding& finding : one.result->findings) ADD_FAILURE() << finding.message;
  }
};

TEST_P(Mbarrier, CopiesArriveInsteadOfTheirThreads) {
  expect_sound(init() + kBarrier + p().copy + p().copies_arrive + p().wait + p().read);
}

TEST_P(Mbarrier, CopiesArriveBesideTheirThreads) {
  expect_sound(init() + kBarrier + p().copy + p().copies_count + p().copies_arrive_too + p().arrive + p().wait +
               p().read);
}

TEST_P(Mbarrier, ThreadsArriveWithWhatTheyStored) {
  expect_sound(init() + kBarrier + p().store + p().arrive + p().wait + p().read);
}

TEST_P(Mbarrier, AReadBeforeTheWaitIsAFault) {
  // The first warp also reads what the second has not written.
  EXPECT_THAT(rules(init() + kBarrier + p().copy + p().copies_arrive + p().read),
              UnorderedElementsAre("race.copy", "race.shared", "never_written.shared"));
  EXPECT_THAT(rules(init() + kBarrier + p().store + p().arrive + p().read),
              UnorderedElementsAre("race.shared", "never_written.shared"));
}

TEST_P(Mbarrier, CopiesThatDoNotArriveAreNotWaitedFor) {
  EXPECT_EQ(rules(init() + kBarrier + p().copy + p().arrive + p().wait + p().read), std::set<std::string>{"race.copy"});
}

TEST_P(Mbarrier, ACopyAfterTheArrivalIsNotPartOfIt) {
  EXPECT_EQ(rules(init() + kBarrier + p().copies_arrive + p().copy + p().wait + p().read),
            std::set<std::string>{"race.copy"});
}

TEST_P(Mbarrier, AStoreAfterTheArrivalIsNotPartOfIt) {
  EXPECT_EQ(rules(init() + kBarrier + p().arrive + p().store + p().wait + p().read),
            std::set<std::string>{"race.shared"});
}

// The other warp arrives first in some orders.
TEST_P(Mbarrier, AnArrivalThatIsNotOrderedAfterTheInitialisationIsAFault) {
  bool found = false;
  for (uint64_t seed = 1; seed < 9; ++seed) {
    const Ran one = run_text(init() + p().arrive + "EXIT\n", GetParam(), true, seed);
    ASSERT_TRUE(one.result) << one.result.error().message;
    for (const WatchFinding& finding : one.result->findings)
      found |= Rule(rule_of(finding.kind)).name() == "never_written.shared";
  }
  EXPECT_TRUE(found);
}

TEST_P(Mbarrier, APhaseThatNeverEndsIsADeadlock) {
  const Ran one = ran(init(kThreads + 1) + kBarrier + p().store + p().arrive + p().wait + p().read);
  ASSERT_FALSE(one.result);
  EXPECT_EQ(one.result.error().kind, FailureKind::deadlock) << one.result.error().message;
  EXPECT_THAT(one.result.error().message, HasSubstr("warps 0, 1 wait for"));
  EXPECT_THAT(one.result.error().hint, HasSubstr("as many arrive as it was initialised with"));
}

// A warp that waits gives way: it looks a few times, and not as long as a slice lasts.
TEST_P(Mbarrier, AWaitIsShort) {
  const Ran one = run_text(init() + kBarrier + p().store + p().arrive + p().wait + p().read, GetParam(), false);
  ASSERT_TRUE(one.result);
  EXPECT_LT(one.result->counters.warp_instructions, 100u);
}

// Thread 0 drives an mbarrier of two arrivals through its phases and keeps what each arrival returns.
TEST_P(Mbarrier, ArrivalsReturnTheStateBefore) {
  std::string text = init(2) + kBarrier + "ISETP.NE.AND P0, PT, R8, RZ, PT\n@P0 EXIT\n";
  const bool old = GetParam() == 80;
  const std::string store = old ? "STG.E [R4.64+{:#x}], R15\n" : "STG.E desc[UR10][R4.64+{:#x}], R15\n";
  for (int i = 0; i < 5; ++i) text += p().arrive + fmt::format(fmt::runtime(store), 4 * i);
  // One arrival less is expected from the next phase on.
  text += old ? "MOV R12, 0x1\nATOMS.ADD RZ, [0x400], R12\nATOMS.ARRIVE.64 R14, [URZ+0x400]\n"
              : "SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 R14, [UR7], RZ\n";
  text += fmt::format(fmt::runtime(store), 20);
  for (int i = 6; i < 9; ++i) text += p().arrive + fmt::format(fmt::runtime(store), 4 * i);
  const Ran one = run_text(text + "EXIT\n", GetParam(), false);
  ASSERT_TRUE(one.result) << one.result.error().message;
  struct Seen {
    uint32_t phase, pending;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  for (int i = 0; i < 9; ++i) {
    const uint32_t high = one.out[size_t(i)];
    seen.push_back({high >> 31, old ? 0x80000000u - (high & 0x7fffffff) : 0x100000u - (high >> 11 & 0xfffff)});
  }
  EXPECT_EQ(seen, (std::vector<Seen>{{0, 2}, {0, 1}, {1, 2}, {1, 1}, {0, 2}, {0, 1}, {1, 1}, {0, 1}, {1, 1}}));
  // The words that an H100 returned.
  if (old) return;
  EXPECT_EQ(one.out[0], 0x7ffff000u);
  EXPECT_EQ(one.out[3], 0xfffff800u);
}

TEST_P(Mbarrier, OutsideOfSharedMemoryItIsAFault) {
  const std::string arrive =
      GetParam() == 80 ? "ATOMS.ARRIVE.64 R14, [URZ+0x9000]\n" : "UMOV UR7, 0x9000\n" + std::string(p().arrive);
  const Ran one = ran(init() + kBarrier + arrive + "EXIT\n");
  ASSERT_FALSE(one.result);
  EXPECT_THAT(one.result.error().message, HasSubstr("of shared memory; the CTA has"));
}

INSTANTIATE_TEST_SUITE_P(On, Mbarrier, ::testing::Values(80u, 90u),
                         [](const auto& one) { return "sm" + std::to_string(one.param); });

}  // namespace
}  // namespace attnscope::emulator::testing
