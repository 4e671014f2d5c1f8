// What probes read from registers and shared memory while a CTA runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using When = Probe::When;

// Twice: every thread stores 100·turn + its number at 4 bytes each (6), all wait (7), warp 0 loads its own (9), lanes
// below 8 add 1 (11), and all wait (12).
const char* const kText = R"(
S2R R0, SR_TID.X
SHF.L.U32 R6, R0, 0x2, RZ
ISETP.LT.AND P1, PT, R0, 0x20, PT
ISETP.LT.AND P2, PT, R0, 0x8, PT
MOV R3, RZ
again:
IMAD R4, R3, 0x64, R0
STS [R6], R4
BAR.SYNC.DEFER_BLOCKING 0x0
MOV R7, RZ
@P1 LDS R7, [R6]
IADD3 R3, R3, 0x1, RZ
@P2 IADD3 R8, R7, 0x1, RZ
BAR.SYNC.DEFER_BLOCKING 0x0
ISETP.LT.AND P0, PT, R3, 0x2, PT
@P0 BRA `(again)
EXIT)";

ProbeHits probed(std::vector<Probe> probes, std::vector<uint32_t> ctas = {1}) {
  Launch launch;
  launch.program = program_of(kText, {.static_shared_bytes = 1024});
  launch.grid = {3, 1, 1};
  launch.block = {64, 1, 1};
  const GlobalMemory memory;
  launch.memory = &memory;
  RunOptions options;
  options.ctas = std::move(ctas);
  options.probes = std::move(probes);
  const auto result = run(launch, options);
  EXPECT_TRUE(result) << result.error().message;
  if (!result) return {};
  EXPECT_THAT(result->shared_steps, IsEmpty()) << "the CTA has one observer";
  return result->probed;
}

std::vector<std::vector<uint32_t>> words_of(const ProbeHits& hits, uint32_t probe = 0) {
  std::vector<std::vector<uint32_t>> all;
  for (const ProbeHit& hit : hits.all)
    if (hit.probe == probe) all.push_back(hit.words);
  return all;
}

TEST(Probe, ARegisterIsReadAsItsLaneHasWrittenIt) {
  const auto hits = probed({{When::executes, {11}, 0, 5, true, {}, std::nullopt}});
  EXPECT_THAT(words_of(hits), ElementsAre(ElementsAre(6), ElementsAre(106)));
  EXPECT_TRUE(hits.whole);
  EXPECT_EQ(hits.all[0].op, 11u);
}

TEST(Probe, AnInactiveLaneAndAnotherWarpAreNotRead) {
  EXPECT_THAT(probed({{When::executes, {11}, 0, 8, true, {}, std::nullopt}}).all, IsEmpty()) << "its guard is false";
  EXPECT_THAT(words_of(probed({{When::executes, {5}, 1, 3, true, {}, std::nullopt}})),
              ElementsAre(ElementsAre(35), ElementsAre(135)));
}

TEST(Probe, SharedMemoryIsReadAsTheCtaPassesItsBarrier) {
  const std::vector<uint32_t> bytes{0, 4 * 40, 4 * 63};
  const auto hits = probed({{When::passes, {7}, 0, 0, false, bytes, std::nullopt}});
  EXPECT_THAT(words_of(hits), ElementsAre(ElementsAre(0, 40, 63), ElementsAre(100, 140, 163)));
}

TEST(Probe, AWordPastTheSharedMemoryReadsAsZero) {
  const auto hits = probed({{When::passes, {7}, 0, 0, false, {4 * 63, 1 << 20}, std::nullopt}});
  EXPECT_THAT(words_of(hits), ElementsAre(ElementsAre(63, 0), ElementsAre(163, 0)));
}

TEST(Probe, TheFirstLoadOfAByteIsToldOnceUntilAnotherProbeFires) {
  const Probe end{When::passes, {12}, 0, 0, false, {}, std::nullopt};
  const auto with = [&](uint32_t byte, std::optional<uint32_t> until) {
    return words_of(probed({end, {When::loads, {9}, 0, 0, false, {byte}, until}}), 1);
  };
  EXPECT_THAT(with(4 * 7, 0), ElementsAre(ElementsAre(7), ElementsAre(107)));
  EXPECT_THAT(with(4 * 7, 1), SizeIs(1)) << "it waits for itself";
  EXPECT_THAT(with(4 * 40, 0), IsEmpty()) << "only warp 0 loads";
}

TEST(Probe, OnlyTheFirstOfTheAskedCtasIsRead) {
  EXPECT_THAT(probed({{When::executes, {11}, 0, 0, true, {}, std::nullopt}}, {2, 0}).all, SizeIs(2));
}

}  // namespace
}  // namespace attnscope::emulator::testing
