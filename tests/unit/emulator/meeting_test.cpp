// Where the lanes of atomics meet, with random addresses, against the addresses themselves.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "emulator/exec/hot_places.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

constexpr uint32_t kCtas = 48, kWords = 4096;

// The words that the lanes of CTAs of one warp add to: a few, many, the same one, each another.
std::vector<uint32_t> random_words(uint32_t most) {
  std::mt19937 random(11);
  std::vector<uint32_t> words(size_t{kCtas} * 32);
  for (uint32_t cta = 0; cta < kCtas; ++cta) {
    const uint32_t few = std::min(most, cta % 4 == 0 ? 1u : cta % 4 == 1 ? 5u : cta % 4 == 2 ? 64u : most);
    for (uint32_t lane = 0; lane < 32; ++lane)
      words[32 * cta + lane] = cta % 6 == 5 ? lane * 32 % most : static_cast<uint32_t>(random()) % few;
  }
  return words;
}

struct Ran {
  InstructionCounters atomic;
  HotSpots hottest;
};

// One warp a CTA reads its words' numbers and executes the atomic on [R6.64] or [R21].
Ran run_atomic(const std::string& text, std::vector<uint32_t> words, unsigned threads) {
  const std::string code = fmt::format(R"(
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
SHF.L.U32 R3, R1, 0x5, RZ
IADD3 R3, R3, R0, RZ
MOV R2, 0x4
IMAD.WIDE R4, R3, R2, c[0x0][0x160]
LDG.E R20, [R4.64]
IMAD.WIDE R6, R20, R2, c[0x0][0x168]
SHF.L.U32 R21, R20, 0x2, RZ
{}
EXIT
)",
                                       text);
  const auto program = program_of(code, {.parameter_bytes = 16, .static_shared_bytes = 4 * kWords});
  if (program == nullptr) return {};
  std::vector<uint32_t> data(2 * kWords);
  GlobalMemory memory;
  Launch launch;
  launch.program = program;
  launch.grid = {kCtas, 1, 1};
  launch.block = {32, 1, 1};
  launch.memory = &memory;
  const uint64_t table = memory.add("words", bytes_of(words), false);
  launch.parameters = Parameters().pointer(table).pointer(memory.add("data", bytes_of(data), true)).bytes();
  RunOptions options;
  options.threads = threads;
  const auto result = run(launch, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? Ran{result->instructions[9], result->hottest} : Ran{};
}

using Parts = std::map<uint32_t, HotPart>;

void add(Parts& parts, uint32_t at, uint64_t turns) {
  parts[at].turns += turns;
  ++parts[at].ctas;
  parts[at].instruction = 9;
}
HotPart most_of(const Parts& parts) {
  HotPart most;
  for (const auto& [at, part] : parts)
    if (part.turns > most.turns) most = part;
  return most;
}

TEST(Meeting, OfGlobalAtomicsIsCountedBySectorAndPiece) {
  const std::vector<uint32_t> words = random_words(kWords);
  uint64_t turns = 0;
  Parts by_sector, by_piece;
  for (uint32_t cta = 0; cta < kCtas; ++cta) {
    std::map<uint32_t, uint32_t> at_word, in_sector, in_piece;
    for (uint32_t lane = 0; lane < 32; ++lane) ++at_word[words[32 * cta + lane]];
    for (const auto& [word, lanes] : at_word) in_sector[word / 8] = std::max(in_sector[word / 8], lanes);
    for (const auto& [sector, most] : in_sector) {
      add(by_sector, sector, most);
      in_piece[sector / 16] += most;
      turns += most;
    }
    for (const auto& [piece, sum] : in_piece) add(by_piece, piece, sum);
  }
  const HotSpots hottest{most_of(by_sector), most_of(by_piece)};
  for (const unsigned threads : {1u, 3u})
    for (const char* text : {"RED.E.ADD.STRONG.GPU [R6.64], R0", "ATOMG.E.ADD.STRONG.GPU PT, R8, [R6.64], R0",
                             "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R6.64], R0", "ATOM.E.ADD.STRONG.GPU PT, R8, [R6.64], R0",
                             "ATOMG.E.CAS.STRONG.GPU PT, R8, [R6], R0, R0"}) {
      const Ran ran = run_atomic(text, words, threads);
      EXPECT_EQ(ran.atomic.turns, turns) << text;
      EXPECT_EQ(ran.hottest, hottest) << text;
    }
}

TEST(Meeting, OfSharedAtomicsIsCountedByBank) {
  const std::vector<uint32_t> words = random_words(kWords);
  uint64_t turns = 0;
  for (uint32_t cta = 0; cta < kCtas; ++cta) {
    uint32_t banks[32] = {};
    for (uint32_t lane = 0; lane < 32; ++lane) ++banks[words[32 * cta + lane] % 32];
    turns += *std::ranges::max_element(banks);
  }
  for (const char* text :
       {"ATOMS.ADD RZ, [R21], R0", "ATOMS.POPC.INC.32 RZ, [R21]", "ATOMS.CAST.SPIN R8, [R21], R0, R0"}) {
    const Ran ran = run_atomic(text, words, 1);
    EXPECT_EQ(ran.atomic.turns, turns) << text;
    EXPECT_EQ(ran.hottest, HotSpots{}) << "shared memory is not global";
  }
}

TEST(Meeting, LoadsAndStoresMeetNowhere) {
  for (const char* text : {"STG.E [R6.64], R0", "LDG.E R8, [R6.64]", "STS [R21], R0"}) {
    const Ran ran = run_atomic(text, random_words(kWords), 1);
    EXPECT_EQ(ran.atomic.turns, 0u) << text;
    EXPECT_EQ(ran.hottest, HotSpots{}) << text;
  }
}

// Pieces beyond those that are kept are left out; those that are kept stay exact.
TEST(Meeting, TheTableIsBounded) {
  HotPlaces places;
  constexpr uint64_t piece = HotPlaces::kPieceSectors;
  for (uint64_t i = 0; i < HotPlaces::kMostPieces; ++i) places.add(i * piece, 1, 3, 0);
  for (uint32_t cta = 0; cta < 5; ++cta) places.add(HotPlaces::kMostPieces * piece, 32, 3, cta);
  places.add(7 * piece, 2, 2, 4);
  places.add(7 * piece + 1, 1, 5, 4);
  EXPECT_EQ(places.hottest(), (HotSpots{{3, 2, 2}, {4, 2, 2}}));
  HotPlaces both;
  both.add(places);
  both.add(places);
  EXPECT_EQ(both.hottest(), (HotSpots{{6, 4, 2}, {8, 4, 2}}));
}

}  // namespace
}  // namespace attnscope::emulator::testing
