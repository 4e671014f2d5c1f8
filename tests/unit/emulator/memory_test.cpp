// Loads, stores and shuffles as a kernel sees them, and the Failures of bad accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <random>

#include "unit/emulator/one_instruction.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::HasSubstr;

// A warp copies `words` words per lane: in[f(lane)] → shared[g(lane)], shared[h(lane)] → out[lane], with the given byte
// offsets.
struct Copy {
  std::string lds, sts;
  int bytes;
};

class SharedCopy : public ::testing::TestWithParam<Copy> {};

TEST_P(SharedCopy, EveryWidthEveryShape) {
  const Copy copy = GetParam();
  const int words = std::max(1, copy.bytes / 4);
  const std::string text = fmt::format(R"(
S2R R0, SR_TID.X
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
LDG.E R20, [R4.64]
LDG.E R21, [R4.64+0x80]
MOV R2, 0x10
IMAD.WIDE R4, R0, R2, c[0x0][0x168]
LDG.E.128 R8, [R4.64]
{} [R20], R8
NOP
CS2R R12, SRZ
CS2R R14, SRZ
{} R12, [R21]
IMAD.WIDE R4, R0, R2, c[0x0][0x170]
STG.E.128 [R4.64], R12
EXIT
)",
                                       copy.sts, copy.lds);
  const auto program = program_of(text, {.parameter_bytes = 24, .static_shared_bytes = 8192});
  ASSERT_NE(program, nullptr);
  std::mt19937 random(3);
  const std::vector<std::function<int(int)>> shapes = {
      [&](int lane) { return copy.bytes * lane; }, [&](int) { return 5 * copy.bytes; },
      [](int lane) { return 128 * lane; }, [&](int lane) { return copy.bytes * (31 - lane); },
      [&](int) { return static_cast<int>(random() % 400) * copy.bytes; }};
  for (HostIsa isa : host_isas()) {
    for (const auto& to : shapes) {
      for (const auto& from : shapes) {
        std::vector<uint32_t> offsets(64), in(128), out(128), want(128);
        for (int lane = 0; lane < 32; ++lane) offsets[lane] = to(lane), offsets[32 + lane] = from(lane);
        for (uint32_t& x : in) x = static_cast<uint32_t>(random());
        std::vector<uint8_t> shared(8192);
        for (int lane = 0; lane < 32; ++lane) std::memcpy(&shared[offsets[lane]], &in[4 * lane], copy.bytes);
        for (int lane = 0; lane < 32; ++lane) std::memcpy(&want[4 * lane], &shared[offsets[32 + lane]], copy.bytes);
        ASSERT_TRUE(run_warps({program, bytes_of(in), bytes_of(out), 1, {bytes_of(offsets)}}, isa));
        ASSERT_EQ(out, want) << copy.lds << " words " << words;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, SharedCopy,
                         ::testing::Values(Copy{"LDS.U16", "STS.U16", 2}, Copy{"LDS", "STS", 4},
                                           Copy{"LDS.64", "STS.64", 8}, Copy{"LDS.128", "STS.128", 16}),
                         [](const auto& param) { return fmt::format("Bytes{}", param.param.bytes); });

TEST(Shuffle, AsPtxDefinesIt) {
  struct Mode {
    const char* name;
    std::function<int(int lane, int b, int segment)> source;
    bool up;
  };
  const auto lane_values = [](int i) { return 1000u + static_cast<uint32_t>(i) * 7; };
  for (const Mode& mode : {Mode{"IDX", [](int lane, int b, int s) { return (lane & s) | (b & ~s & 31); }, false},
                           Mode{"DOWN", [](int lane, int b, int) { return lane + b; }, false},
                           Mode{"BFLY", [](int lane, int b, int) { return lane ^ b; }, false},
                           Mode{"UP", [](int lane, int b, int) { return lane - b; }, true}}) {
    for (int b : {0, 1, 5, 16, 31}) {
      for (int width : {32, 8}) {
        // The control word of __shfl_*_sync: clamp 0x1f (0 for up), segment mask (32 - width) << 8.
        const int segment = 32 - width, control = segment << 8 | (mode.up ? 0 : 0x1f);
        std::vector<Inputs> inputs(32);
        for (int lane = 0; lane < 32; ++lane) inputs[lane] = {lane_values(lane), static_cast<uint32_t>(lane), 0, 0};
        check(fmt::format("SHFL.{} P3, R12, R8, {:#x}, {:#x}", mode.name, b, control), inputs, [&](const Inputs& in) {
          const int lane = static_cast<int>(in.b), first = lane & segment, last = first | (31 & ~segment);
          const int from = mode.source(lane, b, segment);
          const bool in_range = mode.up ? from >= first : from <= last;
          return Outputs{.r = lane_values(in_range ? from : lane), .p = in_range};
        });
      }
    }
  }
}

// --- Bad accesses ---------------------------------------------------------------------------------------------------

Failure failure_of(const std::string& text, const TextOptions& text_options, GlobalMemory& memory,
                   const std::vector<std::byte>& parameters, uint32_t grid = 1) {
  const auto program = program_of(text, text_options);
  if (program == nullptr) return {};
  Launch launch;
  launch.program = program;
  launch.grid = {grid, 1, 1};
  launch.block = {64, 1, 1};
  launch.parameters = parameters;
  launch.memory = &memory;
  RunOptions options;
  options.threads = 1;
  const auto result = run(launch, options);
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Failure{} : result.error();
}

constexpr const char* kStoreAt = R"(S2R R0, SR_TID.X
MOV R2, {}
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
STG.E [R4.64+{}], R0
EXIT)";

TEST(Faults, OutsideABufferNamesEverything) {
  std::vector<uint32_t> data(60);
  GlobalMemory memory;
  const uint64_t address = memory.add("scores", bytes_of(data), true);
  const Failure failure = failure_of(fmt::format(kStoreAt, "0x4", "0x0"), {.parameter_bytes = 8}, memory,
                                     Parameters().pointer(address).bytes());
  EXPECT_EQ(failure.stage, Stage::launch);
  EXPECT_THAT(failure.message, HasSubstr("k: STG at k.cu:4"));
  EXPECT_THAT(failure.message, HasSubstr("0 bytes past the end of scores (240 bytes)"));
  EXPECT_THAT(failure.message, HasSubstr("CTA (0, 0, 0), thread 60 (warp 1, lane 28)"));
  EXPECT_THAT(failure.message, HasSubstr(fmt::format("{:#x}", address + 240)));
  EXPECT_EQ(data[59], 0u);  // a faulting warp instruction stores nothing
  EXPECT_EQ(data[31], 31u);
}

// An index that is a million times too large counts against its own buffer, not the next one.
TEST(Faults, FarBehindABufferIsInNoOther) {
  std::vector<uint32_t> data(64), next(1 << 20);
  GlobalMemory memory;
  const uint64_t address = memory.add("small", bytes_of(data), true);
  memory.add("next", bytes_of(next), true);
  const Failure failure = failure_of(fmt::format(kStoreAt, "0x4", "0x500000"), {.parameter_bytes = 8}, memory,
                                     Parameters().pointer(address).bytes());
  EXPECT_EQ(failure.overrun, (Overrun{"small", 256, 0x500000 - 256}));
}

TEST(Faults, BeforeABuffer) {
  std::vector<uint32_t> data(64);
  GlobalMemory memory;
  const auto parameters = Parameters().pointer(memory.add("o", bytes_of(data), true)).bytes();
  const Failure failure = failure_of(fmt::format(kStoreAt, "0x4", "-0x10"), {.parameter_bytes = 8}, memory, parameters);
  EXPECT_THAT(failure.message, HasSubstr("16 bytes before o"));
  EXPECT_EQ(failure.overrun, std::nullopt);
}

TEST(Faults, MisalignedAndReadOnly) {
  std::vector<uint32_t> data(64);
  GlobalMemory memory;
  const auto parameters = Parameters().pointer(memory.add("o", bytes_of(data), true)).bytes();
  EXPECT_THAT(failure_of(fmt::format(kStoreAt, "0x4", "0x2"), {.parameter_bytes = 8}, memory, parameters).message,
              HasSubstr("not a multiple of 4"));
  GlobalMemory inputs;
  const auto input = Parameters().pointer(inputs.add("q", bytes_of(data), false)).bytes();
  EXPECT_THAT(failure_of(fmt::format(kStoreAt, "0x4", "0x0"), {.parameter_bytes = 8}, inputs, input).message,
              HasSubstr("read-only buffer: byte 0 of q"));
}

TEST(Faults, LanesOfFarBuffersAreServedOneByOne) {
  // Two buffers on both sides of a 4 GiB line: the lanes' addresses differ in the upper word.
  std::vector<uint32_t> first(8), second(8);
  GlobalMemory memory;
  const uint64_t a = memory.add("a", bytes_of(first), true);
  std::vector<std::byte> big(1);
  // Only guards fill the rest of the 4 GiB window.
  for (uint64_t at = a; at >> 32 == a >> 32;) at = memory.add("b", bytes_of(second), true);
  const uint64_t b = memory.buffers().back().address;
  ASSERT_NE(a >> 32, b >> 32);
  const auto program = program_of(R"(
S2R R0, SR_TID.X
ISETP.GE.AND P0, PT, R0, 0x8, PT
MOV R4, c[0x0][0x160]
MOV R5, c[0x0][0x164]
@P0 MOV R4, c[0x0][0x168]
@P0 MOV R5, c[0x0][0x16c]
LOP3.LUT R6, R0, 0x7, RZ, 0xc0, !PT
LEA R4, P1, R6, R4, 0x2
IADD3.X R5, R5, RZ, RZ, P1, !PT
STG.E [R4.64], R0
EXIT
)",
                                  {.parameter_bytes = 16});
  ASSERT_NE(program, nullptr);
  Launch launch;
  launch.program = program;
  launch.block = {16, 1, 1};
  launch.parameters = Parameters().pointer(a).pointer(b).bytes();
  launch.memory = &memory;
  const auto result = run(launch);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(first, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(second, ::testing::ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_EQ(result->counters.global_store_sectors, 2u);
}

TEST(Faults, SharedAndLocal) {
  GlobalMemory memory;
  const Failure shared = failure_of("S2R R0, SR_TID.X\nSHF.L.U32 R0, R0, 0x2, RZ\nSTS [R0], R0\nEXIT",
                                    {.static_shared_bytes = 128}, memory, {});
  EXPECT_THAT(shared.message, HasSubstr("STS at k.cu:3 accesses 4 bytes at 128 of shared memory; the CTA has 128"));
  EXPECT_THAT(shared.message, HasSubstr("thread 32 (warp 1, lane 0)"));
  const Failure misaligned =
      failure_of("S2R R0, SR_TID.X\nLDS.64 R2, [R0]\nEXIT", {.static_shared_bytes = 128}, memory, {});
  EXPECT_THAT(misaligned.message, HasSubstr("8 bytes at 1 of shared memory, which is not a multiple of 8"));
  const Failure local = failure_of("MOV R1, c[0x0][0x28]\nSTL [R1], RZ\nEXIT", {.frame_bytes = 16}, memory, {});
  EXPECT_THAT(local.message, HasSubstr("STL at k.cu:2 accesses 4 bytes at 16 of local memory; a thread has 16"));
}

// A CTA of the program of `text`, with a frame of 16 bytes for each thread, which writes a word per thread to its
// parameter.
struct FrameRun {
  std::vector<uint32_t> out;
  RunCounters counters;
  LocalReuses reuses = {};
};
FrameRun run_with_frame(const std::string& text, uint32_t threads) {
  FrameRun made{std::vector<uint32_t>(threads), {}};
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(text, {.parameter_bytes = 8, .frame_bytes = 16});
  EXPECT_NE(launch.program, nullptr);
  if (!launch.program) return made;
  launch.block = {threads, 1, 1};
  launch.parameters = Parameters().pointer(memory.add("out", bytes_of(made.out), true)).bytes();
  launch.memory = &memory;
  RunOptions options;
  options.trace_ctas = {0};
  const auto result = run(launch, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  if (result) made.counters = result->counters;
  if (result) made.reuses = result->local_reuses;
  return made;
}

TEST(Local, EachThreadHasItsOwn) {
  const FrameRun made = run_with_frame(R"(
MOV R1, c[0x0][0x28]
IADD3 R1, R1, -0x10, RZ
S2R R0, SR_TID.X
IADD3 R3, R0, 0x64, RZ
STL [R1+0x4], R3
STL [R1+0x8], RZ
LDL R6, [R1+0x4]
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
STG.E [R4.64], R6
EXIT
)",
                                       64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(made.out[i], i + 100);
  EXPECT_EQ(made.counters.local_store_sectors, 2u * 2 * 4);  // 2 warps, 2 stores, 128 bytes each
  EXPECT_EQ(made.counters.local_load_sectors, 2u * 4);
  EXPECT_EQ(made.reuses.warps, 2u);
  EXPECT_EQ(made.reuses.counts, (LocalReuse::Counts{{6, {{1, 2}}}})) << "each warp stored one other line in between";
}

TEST(Local, ALineIsAsFarBackAsTheOthersSinceItsLastAccess) {
  LocalReuse reuse;
  EXPECT_FALSE(reuse.accessed());
  for (const uint32_t line : {5u, 6u, 7u, 6u, 5u}) reuse.access(1, line, line == 5);
  reuse.access(2, 5, true);
  EXPECT_TRUE(reuse.accessed());
  EXPECT_EQ(reuse.counts(), (LocalReuse::Counts{{1, {{2, 1}, {LocalReuse::kMost, 1}}}, {2, {{0, 1}}}}));

  // Sectors of one line are one access.
  LocalReuse wide;
  const uint32_t sectors[] = {0, 1, 2, 3, 4, 7};
  wide.access(3, sectors, 6, false);
  wide.access(3, sectors, 6, true);
  EXPECT_EQ(wide.counts(), (LocalReuse::Counts{{3, {{1, 2}}}}));
}

// A walk over more lines than are kept finds none of them again.
TEST(Local, ReuseIsBounded) {
  LocalReuse reuse;
  for (int walk = 0; walk < 2; ++walk)
    for (uint32_t line = 0; line <= LocalReuse::kMost; ++line) reuse.access(0, line, walk == 1);
  EXPECT_EQ(reuse.counts(), (LocalReuse::Counts{{0, {{LocalReuse::kMost, LocalReuse::kMost + 1}}}}));
}

// Two stores of 16 bits make one word.
TEST(Local, StoresHalfWords) {
  const FrameRun made = run_with_frame(R"(
MOV R1, c[0x0][0x28]
IADD3 R1, R1, -0x10, RZ
S2R R0, SR_TID.X
IADD3 R3, R0, 0x12345, RZ
STL [R1+0x4], RZ
STL.S16 [R1+0x4], R3
STL.S16 [R1+0x6], R0
LDL R6, [R1+0x4]
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
STG.E [R4.64], R6
EXIT
)",
                                       32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(made.out[i], i << 16 | (0x2345 + i));
}

// A frame whose address is uniform.
TEST(Local, TakesAUniformAddress) {
  const FrameRun made = run_with_frame(R"(
MOV R1, c[0x0][0x28]
IADD3 R1, R1, -0x10, RZ
S2R R0, SR_TID.X
R2UR UR4, R1
IADD3 R3, R0, 0x100, RZ
STL [UR4+0x4], R3
STL.64 [UR4+0x8], R2
LDL R6, [UR4+0x4]
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
STG.E [R4.64], R6
EXIT
)",
                                       32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(made.out[i], i + 0x100);
}

}  // namespace
}  // namespace attnscope::emulator::testing
