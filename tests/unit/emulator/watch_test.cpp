// The watch: kernels with a known fault and their sound twins, as data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/emulator/opcode_recording.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

// Thread t of warp w: R0 = t, R2 = 4t, R4 = 4·(t ^ 32) (the same lane of the neighbouring warp), R5 = w, P0 = in warp
// 0. The parameter is the address of 64 words that are never written.
constexpr const char* kHead = R"(
S2R R0, SR_TID.X
SHF.L.U32 R2, R0, 0x2, RZ
LOP3.LUT R3, R0, 0x20, RZ, 0x3c, !PT
SHF.L.U32 R4, R3, 0x2, RZ
SHF.R.U32.HI R5, RZ, 0x5, R0
ISETP.EQ.AND P0, PT, R5, RZ, PT
)";

struct WatchCase {
  const char* name;
  const char* body;      // source lines count from kHead's first, which is empty: the body begins at line 8
  const char* expected;  // part of a finding's message; "" none
  WatchKind kind = WatchKind::shared_write_read;
  size_t findings = 1;
};
void PrintTo(const WatchCase& one, std::ostream* out) { *out << one.name; }

const WatchCase kCases[] = {
    {"ReadBeforeTheBarrier", "STS [R2], R0\nLDS R6, [R4]\nBAR.SYNC 0x0", "STS at k.cu:8", WatchKind::shared_read_write,
     2},  // also a never-written read
    {"ReadAfterTheBarrier", "STS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [R4]", ""},
    {"OwnWarpNeedsNoBarrier", "STS [R2], R0\nLDS R6, [R2]", ""},
    {"TwoWarpsWriteOneWord", "STS [RZ], R0", "STS at k.cu:8 (thread 31, warp 0) writes byte 0",
     WatchKind::shared_write_write},
    {"TwoWarpsWriteTheSame", "MOV R6, 0x7\nSTS [RZ], R6", ""},
    // Memory that nothing has written holds no value, so a store to it never stores the value that is already there.
    {"ZerosWhereNothingIsWrittenWereReadBefore", "@P0 LDS R6, [R4]\n@!P0 STS [R2], RZ",
     "LDS at k.cu:8 (thread 0, warp 0) reads byte 128 of shared memory, then STS at k.cu:9 (thread 32, warp 1)",
     WatchKind::shared_read_write, 2},  // also a never-written read
    {"WriteAfterReadWithoutBarrier", "STS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [R4]\nIADD3 R0, R0, 0x1, RZ\nSTS [R2], R0",
     "at k.cu:10", WatchKind::shared_write_read},
    {"WriteAfterReadWithBarrier",
     "STS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [R4]\nBAR.SYNC 0x0\nIADD3 R0, R0, 0x1, RZ\nSTS [R2], R0", ""},
    {"NeverWritten", "LDS R6, [R2]",
     "LDS at k.cu:8 (thread 0) reads byte 0 of shared memory, which nothing has written",
     WatchKind::shared_never_written},
    {"AMovedLoadIsForTheLineThatUsesIt", "BAR.SYNC 0x0\nLDS R6, [R2] @ 3\nMOV R8, R2\nIADD3 R7, R6, 0x1, RZ",
     "LDS for k.cu:11, which the compiler counts to line 3, (thread 0) reads byte 0 of shared memory",
     WatchKind::shared_never_written},
    {"ALoadWithNoBarrierBeforeItHasItsOwnLine", "LDS R6, [R2] @ 3\nIADD3 R7, R6, 0x1, RZ\nBAR.SYNC 0x0",
     "LDS at k.cu:3 (thread 0) reads byte 0 of shared memory", WatchKind::shared_never_written},
    {"ALoadForAnEarlierUseHasItsOwnLine", "BAR.SYNC 0x0\nLDS R6, [R2] @ 3\nIADD3 R7, R6, 0x1, RZ @ 4",
     "LDS at k.cu:3 (thread 0) reads byte 0 of shared memory", WatchKind::shared_never_written},
    {"ALoadedValueThatIsDroppedHasItsOwnLine", "BAR.SYNC 0x0\nLDS R6, [R2] @ 3\nMOV R6, R2\nIADD3 R7, R6, 0x1, RZ",
     "LDS at k.cu:3 (thread 0) reads byte 0 of shared memory", WatchKind::shared_never_written},
    {"WrittenByTheOther", "@P0 STS [R2+0x80], R0\nBAR.SYNC 0x0\n@!P0 LDS R6, [R2]", ""},
    {"NamedBarrierOrders", "@P0 STS [R2], R0\nBAR.SYNC 0x3, 0x40\n@!P0 LDS R6, [R4]", ""},
    {"ArrivalGives",
     "@!P0 BRA `(other)\nSTS [R2], R0\nBAR.ARV 0x3, 0x40\nEXIT\nother:\nBAR.SYNC 0x3, 0x40\nLDS R6, [R4]", ""},
    {"ArrivalGivesByNumbersInRegisters",
     "MOV R6, 0x3\nMOV R7, 0x400000\nMOV R8, 0x5\n@!P0 BRA `(other)\nSTS [R2], R0\nBAR.ARV R6, 0x40\n"
     "BAR.SYNC R8, 0x40\nBAR.ARV 0x4, R7\nEXIT\nother:\nBAR.SYNC R6, 0x40\nLDS R9, [R4]\nBAR.ARV R8, R7\n"
     "BAR.SYNC 0x4, R7",
     ""},
    {"ArrivalAtAnotherNumberGivesNothing",
     "MOV R6, 0x3\nMOV R7, 0x5\n@!P0 BRA `(other)\nSTS [R2], R0\nBAR.ARV R6, 0x40\nEXIT\nother:\n"
     "BAR.ARV R7, 0x40\nLDS R8, [R4]",
     "STS at k.cu:11", WatchKind::shared_write_read},
    {"ArrivalDoesNotTake",
     "@!P0 BRA `(other)\nBAR.ARV 0x3, 0x40\nLDS R6, [R4]\nEXIT\nother:\nSTS [R2], R0\nBAR.SYNC 0x3, 0x40",
     "LDS at k.cu:10 (thread 0, warp 0) reads byte 128 of shared memory, then STS at k.cu:13",
     WatchKind::shared_read_write, 2},
    {"OtherBarrierOrdersNothing",
     "@!P0 BRA `(other)\nSTS [R2], R0\nBAR.SYNC 0x1, 0x20\nEXIT\nother:\nBAR.SYNC 0x2, 0x20\nLDS R6, [R4]",
     "STS at k.cu:9", WatchKind::shared_write_read},
    {"AtomicsDoNotRace", "STS [RZ], RZ\nBAR.SYNC 0x0\nMOV R6, 0x1\nATOMS.ADD RZ, [RZ], R6", ""},
    {"AnAtomicReadsToo", "MOV R6, 0x1\nATOMS.ADD RZ, [RZ], R6",
     "at k.cu:9 (thread 0) reads byte 0 of shared memory, which nothing has written", WatchKind::shared_never_written},
    {"HalvesOfOneWord", "STS.U16 [R2], R0\nSTS.U16 [R4+0x2], R0", ""},
    {"VectorsOverlap", "SHF.L.U32 R2, R2, 0x1, RZ\nSTS.64 [R2], R0\nLDS R6, [R4+0x4]", "STS at k.cu:9",
     WatchKind::shared_read_write, 3},  // also one within a warp
    // Shared memory is tracked by lines of 64 bytes as long as that is unambiguous; those records stay usable
    // afterwards.
    {"WordsOfOneLine", "SHF.L.U32 R7, R5, 0x2, RZ\nSTS [R7], R5\nNOP\nLDS R6, [R7]\nNOP\nSTS [R7], R0", ""},
    {"ReadByAllThenWritten",
     "STS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [RZ]\nLDS R6, [R2]\nLDS R6, [R4]\nLDS R6, [RZ+0x4]\nLDS R6, [RZ+0x8]\n"
     "NOP\n@!P0 STS [R4], R4",
     "LDS at k.cu:11 (thread 1, warp 0) reads byte 4 of shared memory, then STS at k.cu:16 (thread 33, warp 1)",
     WatchKind::shared_read_write},
    {"ReadByAllThenWrittenBehindABarrier",
     "STS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [RZ]\nLDS R6, [R2]\nLDS R6, [R4]\nLDS R6, [RZ+0x4]\nLDS R6, [RZ+0x8]\n"
     "BAR.SYNC 0x0\n@P0 STS [R2+0x80], R2",
     ""},
    {"ALaterWordOfALineThatIsReadInSteps",
     "STS [R2], R0\nBAR.SYNC 0x0\nISETP.EQ.AND P1, PT, R0, 0x1, PT\nSHF.L.U32 R7, R0, 0x3, RZ\n@P1 STS [R7], R5\n"
     "SHF.L.U32 R8, R4, 0x1, RZ\n@!P0 LDS R6, [R8]",
     "STS at k.cu:12 (thread 1, warp 0) writes byte 8 of shared memory, then LDS at k.cu:14 (thread 33, warp 1)",
     WatchKind::shared_write_read},
    {"WrittenLongAgoInOneLine",
     "@P0 STS [RZ+0x40], R0\nMOV R8, RZ\nagain:\nLDS R6, [R8+0x80]\nNOP\nIADD3 R8, R8, 0x4, RZ\n"
     "LOP3.LUT R8, R8, 0x7c, RZ, 0xc0, !PT\nIADD3 R9, R9, 0x1, RZ\nISETP.LT.AND P1, PT, R9, 0x2800, PT\n"
     "@P1 BRA `(again)\n@!P0 STS [RZ+0x44], R0\n@!P0 LDS R6, [RZ+0x40]",
     "STS at k.cu:8 (thread 31, warp 0) writes byte 64 of shared memory, then LDS at k.cu:19 (thread 32, warp 1)",
     WatchKind::shared_write_read, 2},  // also the never-written reads of the loop
    {"CopyAwaited",
     "MOV R24, c[0x0][0x160]\nMOV R25, c[0x0][0x164]\nLDGSTS.E [R2], [R24.64]\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0\nBAR.SYNC "
     "0x0\nLDS R6, [R4]",
     ""},
    {"CopyAwaitedOnAnotherScoreboard",
     "MOV R24, c[0x0][0x160]\nMOV R25, c[0x0][0x164]\nLDGSTS.E [R2], [R24.64]\nLDGDEPBAR\nDEPBAR.LE SB1, 0x0\nBAR.SYNC "
     "0x0\nLDS R6, [R4]",
     "LDGSTS at k.cu:10", WatchKind::shared_copy_not_awaited},
    {"CopyAwaitedAlongWithScoreboards",
     "MOV R24, c[0x0][0x160]\nMOV R25, c[0x0][0x164]\nLDGSTS.E [R2], [R24.64]\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0, "
     "{5,4}\nBAR.SYNC 0x0\nLDS R6, [R4]",
     ""},
    {"CopyOverAWriteNotOrdered",
     "MOV R24, c[0x0][0x160]\nMOV R25, c[0x0][0x164]\nSTS [R4], R0\nLDGSTS.E [R2], [R24.64]\nLDGDEPBAR\nDEPBAR.LE SB0, "
     "0x0",
     "STS at k.cu:10", WatchKind::shared_write_write},
    {"CopyIntoWhatWasReadBefore",
     "MOV R24, c[0x0][0x160]\nMOV R25, c[0x0][0x164]\nSTS [R2], R0\nBAR.SYNC 0x0\nLDS R6, [R4]\n@!P0 LDGSTS.E [R2], "
     "[R24.64]\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0",
     "LDS at k.cu:12", WatchKind::shared_read_write},
    {"UnevenBarrier", "@P0 BRA `(first)\nBAR.SYNC 0x0\nEXIT\nfirst:\nBAR.SYNC 0x0", "Uneven barrier 0",
     WatchKind::barrier_uneven},
    {"UnevenBarrierInAnInlinedFunction", "@P0 BRA `(first)\nBAR.SYNC 0x0 @ 3 20\nEXIT\nfirst:\nBAR.SYNC 0x0 @ 3 21",
     "passes BAR at k.cu:3, inlined at k.cu:20 while warp 0 passes BAR at k.cu:3, inlined at k.cu:21",
     WatchKind::barrier_uneven},
    {"UnevenBarrierTwoCallsDeep", "@P0 BRA `(first)\nBAR.SYNC 0x0 @ 3 7 20\nEXIT\nfirst:\nBAR.SYNC 0x0 @ 3 7 21",
     "passes BAR at k.cu:3, inlined at k.cu:7, inlined at k.cu:20", WatchKind::barrier_uneven},
    {"OneInlinedBarrierInTwoCopies", "@P0 BRA `(first)\nBAR.SYNC 0x0 @ 3 7 20\nEXIT\nfirst:\nBAR.SYNC 0x0 @ 3 7 20",
     ""},
    {"EvenBarrier", "BAR.SYNC 0x0\nBAR.SYNC 0x0", ""},
    {"ShuffleFromAbsentLane", "LOP3.LUT P1, RZ, R0, 0x1, RZ, 0xc0, !PT\n@P1 SHFL.BFLY PT, R6, R0, 0x1, 0x1f",
     "which does not take part", WatchKind::shuffle_absent_lane},
    {"ShuffleAmongPresent", "SHFL.BFLY PT, R6, R0, 0x1, 0x1f", ""},
    {"ShuffleOutOfRangeKeepsItsOwn", "SHFL.UP PT, R6, R0, 0x1, RZ", ""},
};

class Watched : public ::testing::TestWithParam<WatchCase> {};

Result<RunResult> run_watched(const std::string& body) {
  std::vector<uint32_t> in(64);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(kHead + body + "\nEXIT", {.parameter_bytes = 8, .static_shared_bytes = 4096});
  launch.block = {64, 1, 1};
  launch.parameters = Parameters().pointer(memory.add("in", bytes_of(in), false)).bytes();
  launch.memory = &memory;
  RunOptions options;
  options.watch = true;
  return run(launch, options);
}

TEST_P(Watched, SaysWhatIsWrongAndNothingElse) {
  const WatchCase& one = GetParam();
  const auto result = run_watched(one.body);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  std::string all;
  for (const WatchFinding& finding : result->findings) all += finding.message + "\n";
  if (*one.expected == '\0') {
    EXPECT_EQ(all, "");
    return;
  }
  EXPECT_EQ(result->findings.size(), one.findings) << all;
  const auto it = std::find_if(result->findings.begin(), result->findings.end(),
                               [&](const WatchFinding& f) { return f.kind == one.kind; });
  ASSERT_NE(it, result->findings.end()) << all;
  EXPECT_THAT(it->message, ::testing::HasSubstr(one.expected));
  EXPECT_GT(it->count, 0u);
}
INSTANTIATE_TEST_SUITE_P(Cases, Watched, ::testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

// The helper's own line is the same for both, so the finding points at the calls.
TEST(WatchedBarrier, AnInlinedOneIsNamedByTheCallsThatDiffer) {
  const auto result = run_watched("@P0 BRA `(first)\nBAR.SYNC 0x0 @ 3 7 20\nEXIT\nfirst:\nBAR.SYNC 0x0 @ 3 9 21");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->findings.size(), 1u);
  EXPECT_EQ(result->findings[0].line, "k.cu:7, inlined at k.cu:20");
  EXPECT_EQ(result->findings[0].other_line, "k.cu:9, inlined at k.cu:21");
}

// ptxas reads whole vectors, so a later part is only suspected.
TEST(WatchedVector, ALaterPartThatNothingWroteIsNoFinding) {
  const auto result = run_watched("SHF.L.U32 R7, R2, 0x1, RZ\nSTS [R7], R0\nLDS.64 R8, [R7]");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->findings.empty());
  ASSERT_EQ(result->suspected.size(), 1u);
  EXPECT_EQ(result->suspected[0].line, "k.cu:10");
  EXPECT_THAT(result->suspected[0].message,
              ::testing::HasSubstr("(thread 0) reads byte 4 of shared memory, which nothing has written"));
}

// 64 threads of two CTAs store the same 64 words.
Result<RunResult> store_words(bool initial, uint32_t words, std::vector<uint32_t> ctas = {}) {
  std::vector<uint32_t> out(words);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(std::string(kHead) +
                                  "MOV R8, c[0x0][0x160]\nMOV R9, c[0x0][0x164]\nIADD3 R8, R8, R2, RZ\n"
                                  "STG.E [R8.64], R0\nEXIT",
                              {.parameter_bytes = 8});
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true, initial)).bytes();
  launch.memory = &memory;
  RunOptions options;
  options.watch = true;
  options.ctas = std::move(ctas);
  return run(launch, options);
}

TEST(WatchedOutput, WhatNothingWroteStandsBesideAStore) {
  const auto result = store_words(false, 100);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->unwritten.size(), 1u);
  EXPECT_EQ(result->unwritten[0].buffer, "out");
  EXPECT_EQ(result->unwritten[0].first, 256u);
  EXPECT_EQ(result->unwritten[0].bytes, 144u);
  EXPECT_EQ(result->unwritten[0].line, "k.cu:11");
  // More than the first page of the records.
  const auto large = store_words(false, 5000);
  ASSERT_TRUE(large.has_value()) << large.error().message;
  EXPECT_EQ(large->unwritten.at(0).bytes, 4 * (5000u - 64));
}

TEST(WatchedOutput, OfASampleOrOfWhatHasContentsNothingIsSaid) {
  EXPECT_TRUE(store_words(false, 64)->unwritten.empty());
  EXPECT_TRUE(store_words(true, 100)->unwritten.empty());
  EXPECT_TRUE(store_words(false, 100, {1})->unwritten.empty());
}

TEST(WatchedLaunch, MoreSharedMemoryThanAnyGpuGivesIsRefused) {
  Launch launch;
  launch.program = program_of("STS [RZ], RZ\nEXIT", {.static_shared_bytes = 1024});
  launch.block = {32, 1, 1};
  RunOptions options;
  options.watch = true;
  launch.dynamic_shared_bytes = 226 * 1024;
  EXPECT_TRUE(run(launch, options).has_value());
  launch.dynamic_shared_bytes = 255 * 1024;
  const auto refused = run(launch, options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().stage, Stage::launch);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("262144 bytes of shared memory"));
}

TEST(WatchedOrder, ASeedChangesWhoComesFirst) {
  // The last writer of one word wins; over the seeds, each of the two warps does.
  std::set<uint32_t> winners;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    std::vector<uint32_t> out(1);
    GlobalMemory memory;
    Launch launch;
    launch.program = program_of(std::string(kHead) +
                                    "STS [RZ], R5\nBAR.SYNC 0x0\nLDS R6, [RZ]\nMOV R8, c[0x0][0x160]\nMOV R9, "
                                    "c[0x0][0x164]\nSTG.E [R8.64], R6\nEXIT",
                                {.parameter_bytes = 8, .static_shared_bytes = 128});
    launch.block = {64, 1, 1};
    launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true)).bytes();
    launch.memory = &memory;
    RunOptions options;
    options.order_seed = seed;
    ASSERT_TRUE(run(launch, options).has_value());
    winners.insert(out[0]);
  }
  EXPECT_EQ(winners.size(), 2u);
}

TEST(WatchedOrder, SharedMemoryStartsAsAsked) {
  std::vector<uint32_t> out(1);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of("LDS R6, [RZ]\nMOV R8, c[0x0][0x160]\nMOV R9, c[0x0][0x164]\nSTG.E [R8.64], R6\nEXIT",
                              {.parameter_bytes = 8, .static_shared_bytes = 128});
  launch.block = {32, 1, 1};
  launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true)).bytes();
  launch.memory = &memory;
  RunOptions options;
  options.shared_fill = 0x7fc00000;
  ASSERT_TRUE(run(launch, options).has_value());
  EXPECT_EQ(out[0], 0x7fc00000u);
}

// Every recorded kernel gives the same words watched and unwatched. All but the listed ones are sound, so the watch
// must report nothing for them.
TEST(WatchedOpcodes, AreQuiet) {
  const std::set<std::string> spoken_of{
      "generic_vectors",  // overwrites what other lanes read, unsynchronised
      "atomic_half",      // an atomic half is a CAS of its word, whose other half another lane has just stored
  };
  const auto& kernels = opcode_recording().kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    RunOptions options;
    options.watch = true;
    const auto result = run_opcode_kernel(kernels[i], opcode_programs(90)[i], options);
    if (!result || spoken_of.contains(kernels[i].cases[0].name)) continue;
    for (const WatchFinding& finding : result->run.findings)
      ADD_FAILURE() << kernels[i].cases[0].name << ": " << finding.message;
  }
}

}  // namespace
}  // namespace attnscope::emulator::testing
