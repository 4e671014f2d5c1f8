// Sectors and 128-byte lines of requests with random addresses, against the addresses themselves.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

constexpr uint32_t kBytes = 1 << 16;
constexpr uint32_t kOff = 0x80000000;  // a lane that does not access

// One warp's offsets into the buffer. Consecutive requests have the same shape, 32 bytes further: the same sectors,
// but other lines.
std::vector<uint32_t> random_offsets(uint32_t ctas, uint32_t width, bool some_off) {
  std::mt19937 random(7);
  std::vector<uint32_t> offsets(size_t{ctas} * 32);
  const std::vector<std::function<uint32_t(uint32_t)>> shapes{
      [&](uint32_t lane) { return lane * width; },
      [&](uint32_t) { return 0u; },
      [&](uint32_t lane) { return lane / 8 * 416 + lane % 8 * width; },
      [&](uint32_t lane) { return (31 - lane) * 96; },
      [&](uint32_t) { return static_cast<uint32_t>(random()) % 512 / width * width; },
      [&](uint32_t) { return static_cast<uint32_t>(random()) % (kBytes / 2) / width * width; }};
  for (uint32_t cta = 0; cta < ctas; ++cta) {
    if (cta % 8 != 0) {
      for (uint32_t lane = 0; lane < 32; ++lane)
        offsets[32 * cta + lane] = offsets[32 * (cta - 1) + lane] + (offsets[32 * (cta - 1) + lane] == kOff ? 0 : 32);
      continue;
    }
    const auto& shape = shapes[cta / 8 % shapes.size()];
    const uint32_t base = static_cast<uint32_t>(random()) % 4096 / width * width;
    for (uint32_t lane = 0; lane < 32; ++lane)
      offsets[32 * cta + lane] = some_off && random() % 3 == 0 ? kOff : base + shape(lane);
  }
  return offsets;
}

uint64_t distinct(const std::vector<uint32_t>& offsets, uint64_t address, uint32_t unit) {
  uint64_t all = 0;
  for (size_t first = 0; first < offsets.size(); first += 32) {
    std::set<uint64_t> seen;
    for (size_t i = first; i < first + 32; ++i)
      if (offsets[i] != kOff) seen.insert((address + offsets[i]) / unit);
    all += seen.size();
  }
  return all;
}

// Clocks of the requests: the different words of the busiest of 32 banks, at least one for four lines.
uint64_t passes(const std::vector<uint32_t>& offsets, uint64_t address, uint32_t width) {
  uint64_t all = 0;
  for (size_t first = 0; first < offsets.size(); first += 32) {
    std::set<uint64_t> lines;
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
    for (size_t i = first; i < first + 32; ++i)
      for (uint32_t byte = 0; byte < (offsets[i] == kOff ? 0 : width); ++byte) {
        const uint64_t word = (address + offsets[i] + byte) / 4;
        lines.insert(word / 32), words_of_bank[word % 32].insert(word);
      }
    size_t most = (lines.size() + 3) / 4;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    all += most;
  }
  return all;
}

struct Access {
  const char* text;
  uint32_t width;
};

class LinesOf : public ::testing::TestWithParam<Access> {};

TEST_P(LinesOf, RandomRequests) {
  const auto [text, width] = GetParam();
  for (const bool some_off : {false, true}) {
    const std::string code = fmt::format(R"(
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
SHF.L.U32 R3, R1, 0x5, RZ
IADD3 R3, R3, R0, RZ
MOV R2, 0x4
IMAD.WIDE R4, R3, R2, c[0x0][0x160]
LDG.E R20, [R4.64]
ISETP.GE.AND P0, PT, R20, RZ, PT
MOV R2, 0x1
IMAD.WIDE R6, R20, R2, c[0x0][0x168]
SHF.L.U32 R21, R0, 0x4, RZ
{}{}
EXIT
)",
                                         some_off ? "@P0 " : "", text);
    const auto program = program_of(code, {.parameter_bytes = 16, .static_shared_bytes = 512});
    ASSERT_NE(program, nullptr);
    std::vector<uint32_t> offsets = random_offsets(96, width, some_off), data(kBytes / 4);
    for (const HostIsa isa : host_isas()) {
      GlobalMemory memory;
      Launch launch;
      launch.program = program;
      launch.grid = {96, 1, 1};
      launch.block = {32, 1, 1};
      launch.memory = &memory;
      const uint64_t table = memory.add("offsets", bytes_of(offsets), false);
      const uint64_t address = memory.add("data", bytes_of(data), true);
      launch.parameters = Parameters().pointer(table).pointer(address).bytes();
      RunOptions options;
      options.isa = isa;
      options.threads = 1;
      const auto result = run(launch, options);
      ASSERT_TRUE(result.has_value()) << result.error().message;
      const InstructionCounters& counts = result->instructions[11];
      EXPECT_EQ(counts.issued, 96u);
      EXPECT_EQ(counts.sectors, distinct(offsets, address, 32)) << text;
      EXPECT_EQ(counts.lines, distinct(offsets, address, 128)) << text;
      EXPECT_EQ(counts.passes, passes(offsets, address, width)) << text;
      EXPECT_EQ(result->instructions[6].lines, 96u) << "a row of the table is one line";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(EveryPath, LinesOf,
                         ::testing::Values(Access{"LDG.E R8, [R6.64]", 4}, Access{"LDG.E.64 R8, [R6.64]", 8},
                                           Access{"LDG.E.128 R8, [R6.64]", 16}, Access{"STG.E [R6.64], R0", 4},
                                           Access{"LDG.E.U8 R8, [R6.64]", 1},
                                           Access{"RED.E.ADD.STRONG.GPU [R6.64], R0", 4},
                                           Access{"LDGSTS.E.BYPASS.128 [R21], [R6.64]", 16}),
                         [](const auto& one) {
                           std::string name = one.param.text;
                           name = name.substr(0, name.find(' '));
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// A word of a thread's frame is a line of its own: 128 bytes of 32 lanes.
TEST(Lines, OfLocalMemory) {
  const auto program = program_of(R"(
MOV R1, c[0x0][0x28]
IADD3 R1, R1, -0x40, RZ
S2R R0, SR_TID.X
LOP3.LUT R3, R0, 0xc, RZ, 0xc0, !PT
IADD3 R3, R3, R1, RZ
STL [R1], R0
STL [R3], R0
LDL.64 R8, [R1+0x8]
EXIT
)",
                                  {.frame_bytes = 64});
  ASSERT_NE(program, nullptr);
  GlobalMemory memory;
  Launch launch;
  launch.program = program;
  launch.block = {32, 1, 1};
  launch.memory = &memory;
  const auto result = run(launch);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->instructions[5].lines, 1u);
  EXPECT_EQ(result->instructions[6].lines, 4u);
  EXPECT_EQ(result->instructions[7].lines, 2u);
  EXPECT_EQ(result->instructions[5].passes, 1u);
  EXPECT_EQ(result->instructions[6].passes, 1u) << "each lane has its bank";
  EXPECT_EQ(result->instructions[7].passes, 2u);
}

}  // namespace
}  // namespace attnscope::emulator::testing
