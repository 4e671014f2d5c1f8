// Launches, sampling, progress, cancelling, and refused requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "emulator/isa/program.h"
#include "platform/memory.h"
#include "unit/emulator/numbered_job.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::HasSubstr;

TEST(Run, WholeGridOnAnyNumberOfThreads) {
  std::optional<RunCounters> first;
  for (unsigned threads : {1u, 2u, 3u, 7u}) {
    Numbered job;
    RunOptions options;
    options.threads = threads;
    const auto result = run(job.launch, options);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    for (uint32_t i = 0; i < 24; ++i) EXPECT_EQ(job.out[i], i);
    EXPECT_EQ(result->counters.ctas, 24u);
    EXPECT_EQ(result->counters.warp_instructions, 24u * (6 + 3 * 4 + 2));
    EXPECT_EQ(result->counters.active_lanes_mean(), 32.0);
    EXPECT_EQ(result->counters.sampled_fraction(), 1.0);
    EXPECT_EQ(first.value_or(result->counters), result->counters);
    first = result->counters;
  }
}

TEST(Run, InstructionsAddUp) {
  Numbered job;
  const auto result = run(job.launch);
  ASSERT_TRUE(result.has_value());
  uint64_t issued = 0;
  for (const auto& one : result->instructions) issued += one.issued;
  EXPECT_EQ(issued, result->counters.warp_instructions);
  EXPECT_EQ(result->instructions[6].issued, 24u * 4);           // the addition in the loop
  EXPECT_EQ(result->instructions[8].threads_on, 24u * 3 * 32);  // the branch back, taken three times of four
  EXPECT_EQ(result->instructions[8].threads, 24u * 4 * 32);
}

TEST(Run, SampledCtasInTheOrderAsked) {
  Numbered job;
  RunOptions options;
  options.ctas = {23, 0, 5};
  options.threads = 1;
  std::vector<uint32_t> seen;
  options.progress_interval_ms = 1;
  options.progress = [&](const Progress& progress) {
    seen.insert(seen.end(), progress.new_ctas.begin(), progress.new_ctas.end());
  };
  const auto result = run(job.launch, options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(seen, options.ctas);
  EXPECT_EQ(result->counters.ctas, 3u);
  EXPECT_EQ(result->counters.sampled_fraction(), 3.0 / 24);
  EXPECT_EQ(std::count(job.out.begin(), job.out.end(), 99u), 21);
}

TEST(Run, ProgressTellsEveryCtaOnceAndGrows) {
  Numbered job("0x40000");
  RunOptions options;
  options.progress_interval_ms = 1;
  std::vector<uint32_t> seen;
  uint64_t last = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_FALSE(progress.new_ctas.empty());
    EXPECT_GE(progress.counters.warp_instructions, last);
    EXPECT_EQ(progress.counters.total_ctas, 24u);
    last = progress.counters.warp_instructions;
    seen.insert(seen.end(), progress.new_ctas.begin(), progress.new_ctas.end());
  };
  const auto result = run(job.launch, options);
  ASSERT_TRUE(result.has_value());
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 24u);
  for (uint32_t i = 0; i < 24; ++i) EXPECT_EQ(seen[i], i);
  EXPECT_EQ(last, result->counters.warp_instructions);
}

TEST(Run, CancelEndsAnEndlessKernel) {
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of("again:\nBRA `(again)\nEXIT", {});
  ASSERT_NE(launch.program, nullptr);
  launch.memory = &memory;
  std::atomic<bool> cancel{false};
  RunOptions options;
  options.cancel = &cancel;
  options.step_budget = UINT64_MAX;
  std::thread later([&] { cancel = true; });
  const auto result = run(launch, options);
  later.join();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().stage, Stage::cancelled);
  // The pool also handles the next run.
  Numbered job;
  EXPECT_TRUE(run(job.launch).has_value());
}

TEST(Run, AFailureStopsTheOtherThreads) {
  GlobalMemory memory;
  Launch launch;
  // CTA 1 stores to an unmapped address; the other loops.
  launch.program = program_of(R"(S2R R0, SR_CTAID.X
ISETP.EQ.AND P0, PT, R0, 0x1, PT
CS2R R4, SRZ
@P0 STG.E [R4.64], R0
again:
BRA `(again)
EXIT)",
                              {});
  ASSERT_NE(launch.program, nullptr);
  launch.memory = &memory;
  launch.grid = {2, 1, 1};
  RunOptions options;
  options.threads = 2;
  options.step_budget = UINT64_MAX;
  const auto result = run(launch, options);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().stage, Stage::launch);
  EXPECT_THAT(result.error().message, HasSubstr("CTA (1, 0, 0)"));
}

TEST(Run, PartialWarps) {
  std::vector<uint32_t> out(64, 7);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(R"(S2R R0, SR_TID.X
S2R R1, SR_TID.Y
IMAD R3, R1, 0x5, R0
MOV R2, 0x4
IMAD.WIDE R4, R3, R2, c[0x0][0x160]
BAR.SYNC 0x0
STG.E [R4.64], R3
EXIT)",
                              {.parameter_bytes = 8});
  ASSERT_NE(launch.program, nullptr);
  launch.block = {5, 8, 1};
  launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true)).bytes();
  launch.memory = &memory;
  const auto result = run(launch);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 40 ? i : 7u);
  EXPECT_EQ(result->counters.threads, 40u * 8);
  EXPECT_EQ(result->counters.active_lanes_mean(), 20.0);
}

// A grid with more work than the budget is sampled: the ends and an even spread, the same CTAs every time.
TEST(Sampling, FollowsTheWorkOfTheFirstCtas) {
  Numbered job;
  job.launch.grid = {24, 1, 1};
  RunOptions options;
  const auto ctas_of = [&](uint64_t budget) {
    std::set<uint32_t> seen;
    options.work_budget = budget;
    options.progress = [&](const Progress& progress) {
      seen.insert(progress.new_ctas.begin(), progress.new_ctas.end());
      EXPECT_LE(progress.counters.ctas, progress.wanted_ctas);
    };
    const auto result = run(job.launch, options);
    EXPECT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->counters.ctas, seen.size());
    EXPECT_EQ(result->counters.total_ctas, 24u);
    return seen;
  };
  EXPECT_EQ(ctas_of(1'000'000).size(), 24u) << "all, as the budget allows";
  const std::set<uint32_t> few = ctas_of(1);
  EXPECT_LT(few.size(), 24u);
  EXPECT_GE(few.size(), RunOptions::kFewestSampled);
  EXPECT_TRUE(few.contains(0) && few.contains(23));
  EXPECT_EQ(few, ctas_of(1));
  // Every quarter of the grid has its share.
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    EXPECT_GE(std::distance(few.lower_bound(6 * quarter), few.lower_bound(6 * quarter + 6)), 3);
  }
}

TEST(Refused, AFormOutsideTheListIsNamed) {
  const auto sass = from_text("NOP\nFADD.SPLAT R0, R1, R2\nEXIT", {});
  ASSERT_NE(sass, nullptr);
  auto copy = std::make_shared<compile::SassProgram>(*sass);
  copy->code_hash.clear();
  const auto program = prepare(copy);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().stage, Stage::decode);
  EXPECT_THAT(program.error().message, HasSubstr("\"FADD.SPLAT R,R,R\""));
  EXPECT_THAT(program.error().message, HasSubstr("byte 0x10, k.cu:2"));
}

TEST(Refused, WhatIsNotSupportedSaysTheWayOn) {
  const auto hint = [](const std::string& line) {
    const auto sass = from_text(line + "\nEXIT", {});
    auto copy = std::make_shared<compile::SassProgram>(*sass);
    copy->code_hash.clear();
    const auto program = prepare(copy);
    return program ? "accepted" : program.error().hint;
  };
  EXPECT_THAT(hint("TEX.SCR.LL R0, R1, R2, R3"), HasSubstr("Read a buffer instead"));
  EXPECT_THAT(hint("SUST.D.BA.2D [R2], R4"), HasSubstr("Textures and surfaces"));
  EXPECT_THAT(hint("SYNCS.ARRIVE.TRANS64.A1TR R0, [R2], R4"), HasSubstr("arrivals with a count or with bytes"));
  EXPECT_THAT(hint("UBLKCP [UR4], [UR6], UR8"), HasSubstr("cuda::memcpy_async()"));
  EXPECT_THAT(hint("UCGABAR_ARV"), HasSubstr("clusters"));
  EXPECT_THAT(hint("BMMA.168128.XOR.POPC R4, R14.ROW, R10.COL, R4"), HasSubstr("1-bit"));
  EXPECT_THAT(hint("IMMA.SP.16864.S8.S8 R12, R4.ROW, R16.COL, R12, R2, 0x0"), HasSubstr("Sparse products"));
  EXPECT_THAT(hint("FADD.SPLAT R0, R1, R2"), HasSubstr("Another knob value"));
}

TEST(Refused, ModifiersThatAFormDoesNotTake) {
  for (const char* line : {"IADD3 R0, |R1|, R2, R3", "LOP3.LUT R0, -R1, R2, R3, 0xc0, !PT", "FADD R0, ~R1, R2",
                           "HADD2.F32 R0, R1, R2.H0_H0", "LOP3.LUT R0, R1, R2, R3, 0xc0, P0", "LDG.E.64 R0, [R2]",
                           "LDS R0, [R2.X2]", "S2R R0, SR_CLOCKLO", "BAR.SYNC 0x0, 0x30",
                           // A constant bank has 64 KiB, and is read by words.
                           "MOV R0, c[0x0][0x10000]", "MOV R0, c[0x0][0x2]",
                           // Decodable, but not recorded.
                           "F2I.FTZ.U16.BF16.FLOOR.NTZ R0, R1", "ATOMS.INC.64 R0, [R2], R4"}) {
    const auto sass = from_text(std::string(line) + "\nEXIT", {});
    ASSERT_NE(sass, nullptr);
    auto copy = std::make_shared<compile::SassProgram>(*sass);
    copy->code_hash.clear();
    EXPECT_FALSE(prepare(copy).has_value()) << line;
  }
}

TEST(Refused, EveryListedFormIsSpelledOnce) {
  const auto forms = supported_forms();
  EXPECT_GT(forms.size(), 220u);
  EXPECT_TRUE(std::is_sorted(forms.begin(), forms.end()));
  EXPECT_EQ(std::adjacent_find(forms.begin(), forms.end()), forms.end());
}

TEST(Refused, BadLaunches) {
  const auto refused = [](auto change) {
    Numbered job;
    change(job.launch);
    const auto result = run(job.launch);
    return result.has_value() ? std::string() : result.error().message;
  };
  EXPECT_THAT(refused([](Launch& l) { l.block = {2048, 1, 1}; }), HasSubstr("2048"));
  EXPECT_THAT(refused([](Launch& l) { l.block = {0, 1, 1}; }), HasSubstr("threads"));
  EXPECT_THAT(refused([](Launch& l) { l.grid = {1, 70000, 1}; }), HasSubstr("grid"));
  EXPECT_THAT(refused([](Launch& l) { l.parameters.pop_back(); }), HasSubstr("takes 8 bytes of parameters; 7"));
  Numbered job;
  RunOptions options;
  options.ctas = {24};
  EXPECT_THAT(run(job.launch, options).error().message, HasSubstr("no CTA 24"));
}

TEST(Refused, AGridSaysWhichExtentIsTooLarge) {
  const auto refused = [](std::array<uint32_t, 3> grid) {
    Numbered job;
    job.launch.grid = grid;
    const auto result = run(job.launch);
    return result.has_value() ? Failure{} : result.error();
  };
  EXPECT_THAT(refused({1, 70000, 1}).hint, HasSubstr("y and z"));
  EXPECT_THAT(refused({0x80000000u, 1, 1}).hint, HasSubstr("x can be"));
  const Failure many = refused({2147483647, 65535, 65535});
  EXPECT_EQ(many.stage, Stage::limits);
  EXPECT_THAT(many.message, HasSubstr("9223090559730712575 in all; the emulator runs grids of up to 2147483647"));
}

TEST(Refused, MoreLocalMemoryThanADeviceOrThisMachineHas) {
  Numbered job;
  const auto with_frame = [&](uint32_t bytes) {
    auto large = std::make_shared<compile::SassProgram>(sass_of(*job.launch.program));
    large->code_hash.clear();
    large->kernel.frame_bytes = bytes;
    job.launch.program = *prepare(large);
    const auto result = run(job.launch);
    return result.has_value() ? Failure{} : result.error();
  };
  const Failure device = with_frame(400'000'000);
  EXPECT_EQ(device.stage, Stage::limits);
  EXPECT_THAT(device.message, HasSubstr("asks 400000000 B of local memory per thread; 524288 are possible"));
  platform::inject_available_memory(1 << 20);
  const Failure machine = with_frame(512 << 10);
  platform::inject_available_memory(std::nullopt);
  EXPECT_EQ(machine.stage, Stage::limits);
  EXPECT_THAT(machine.message, HasSubstr("0.0 GB are available"));
}

TEST(Refused, ConstantsThatTheDriverWouldGive) {
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of("MOV R0, c[0x0][0x40]\nEXIT", {});
  launch.memory = &memory;
  EXPECT_THAT(run(launch).error().message, HasSubstr("c[0x0][0x40]"));
  auto other = std::make_shared<compile::SassProgram>(*from_text("MOV R0, c[0x0][0x0]\nEXIT", {}));
  other->code_hash.clear();
  other->instructions[0].operands[1].bank = 3;
  launch.program = *prepare(other);
  EXPECT_THAT(run(launch).error().message, HasSubstr("c[0x3][0x0]"));
}

TEST(Prepare, EqualCodeIsDecodedOnceAndKeepsItsOwnLines) {
  auto one = std::make_shared<compile::SassProgram>(*from_text("NOP\nEXIT", {}));
  auto two = std::make_shared<compile::SassProgram>(*from_text("\n\nNOP\nEXIT", {}));
  one->code_hash = two->code_hash = "a hash only for this test";
  const auto first = prepare(one), again = prepare(one), moved = prepare(two);
  ASSERT_TRUE(first && again && moved);
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(sass_of(**moved).instructions[0].line.line, 3u);
  EXPECT_EQ(sass_of(**first).instructions[0].line.line, 1u);
}

TEST(Source, OfAnInstructionAfterTheLastIsUnknown) {
  auto sass = std::make_shared<compile::SassProgram>(*from_text("NOP\nEXIT", {}));
  sass->instructions.pop_back();
  Program program;
  program.sass = sass;
  EXPECT_EQ(source_of(program, 0), "k.cu:1");
  EXPECT_EQ(source_of(program, 1), "an unknown source line");
  EXPECT_EQ(source_of(program, 2), "an unknown source line");
}

}  // namespace
}  // namespace attnscope::emulator::testing
