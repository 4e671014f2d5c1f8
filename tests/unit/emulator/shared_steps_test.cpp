// Where one CTA accesses shared memory, execution by execution.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/isa/program.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Instructions 4 to 7: a copy whose odd lanes write zeros, a matrix, a loop of four loads into the address register.
const char* const kText = R"(
S2R R0, SR_TID.X
SHF.L.U32 R20, R0, 0x4, RZ
MOV R2, 0x10
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
LDGSTS.E.BYPASS.128 [R20], [R4.64]
LDSM.16.M88.2 R8, [R20+0x100]
SHF.L.U32 R6, R0, 0x2, RZ
STS [R6], RZ
MOV R3, RZ
again:
SHF.L.U32 R7, R3, 0x7, RZ
IADD3 R7, R7, R6, RZ
LDS R7, [R7]
IADD3 R3, R3, 0x1, RZ
ISETP.LT.AND P0, PT, R3, 0x4, PT
@P0 BRA `(again)
EXIT)";

struct Job {
  std::vector<uint16_t> in = std::vector<uint16_t>(1024);
  GlobalMemory memory;
  Launch launch;
  explicit Job(uint32_t arch = 80) {
    launch.program = program_of(kText, {.arch = arch, .parameter_bytes = 8, .static_shared_bytes = 1024});
    launch.grid = {3, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters = Parameters().pointer(memory.add("in", bytes_of(in), false)).bytes();
    launch.memory = &memory;
  }
};

std::map<uint32_t, SharedSteps> steps_of(const RunOptions& options = {}) {
  Job job;
  const auto result = run(job.launch, options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->shared_steps : std::map<uint32_t, SharedSteps>();
}

TEST(SharedSteps, EveryExecutionOfACtaIsOne) {
  const auto all = steps_of();
  std::vector<uint32_t> instructions;
  for (const auto& [at, steps] : all) instructions.push_back(at);
  ASSERT_THAT(instructions, ElementsAre(4, 5, 7, 11));
  const SharedSteps& loads = all.at(11);
  ASSERT_EQ(loads.shapes.size(), 1u) << "each execution is the same, a row of banks further on";
  EXPECT_EQ(loads.shapes[0].use, SharedUse::load);
  EXPECT_THAT(loads.steps, ElementsAre(SharedStep{0, 0, 0, 0}, SharedStep{0, 1, 0, 128}, SharedStep{0, 2, 0, 256},
                                       SharedStep{0, 3, 0, 384}, SharedStep{1, 0, 0, 128}, SharedStep{1, 1, 0, 256},
                                       SharedStep{1, 2, 0, 384}, SharedStep{1, 3, 0, 512}));
  EXPECT_EQ(loads.access(5).at[31], 256 + 124) << "as the register was before it took what was loaded";
  EXPECT_EQ(all.at(7).shapes[0].use, SharedUse::store);
}

TEST(SharedSteps, MatricesAndCopiesAreRecordedToo) {
  const auto all = steps_of();
  const SharedAccess copy = all.at(4).access(0), matrices = all.at(5).access(1);
  EXPECT_EQ(copy.use, SharedUse::copy);
  EXPECT_EQ(copy.bytes, 16);
  EXPECT_EQ(copy.mask, 0xffffffff);
  EXPECT_EQ(copy.at[31], 496);
  EXPECT_EQ(matrices.use, SharedUse::matrices);
  EXPECT_EQ(matrices.mask, 0xffff) << "sixteen lanes say where two matrices lie";
  EXPECT_EQ(matrices.at[15], 512 + 0x100 + 15 * 16);
}

TEST(SharedSteps, OnlyTheFirstTurnsAreKept) {
  RunOptions options;
  options.recorded_turns = 2;
  EXPECT_EQ(steps_of(options).at(11).steps.size(), 4u) << "two of each warp";
}

// Which CTA ran first on which thread does not matter.
TEST(SharedSteps, OneCtaIsRecorded) {
  RunOptions options;
  for (const unsigned threads : {1u, 3u}) {
    options.threads = threads;
    options.ctas = {2, 1};
    EXPECT_EQ(steps_of(options).at(11).steps.size(), 8u);
    options.trace_ctas = {1};
    EXPECT_EQ(steps_of(options).at(11).steps.size(), 8u);
    options.trace_ctas.clear();
  }
  options.ctas = {1, 1, 1, 1};
  EXPECT_EQ(steps_of(options).at(11).steps.size(), 8u) << "once, however often it runs";
  options.watch = true;
  EXPECT_THAT(steps_of(options), IsEmpty()) << "a watch has handlers of its own";
}

// The first bytes of sm_90's window are the system's.
TEST(SharedSteps, BytesCountFromTheCtasOwn) {
  Job job;
  const std::string text = "S2R R0, SR_TID.X\nSHF.L.U32 R6, R0, 0x2, RZ\nSTS [R6+0x400], RZ\nEXIT";
  job.launch.program = program_of(text, {.arch = 90, .static_shared_bytes = 1024});
  job.launch.parameters.clear();
  const auto result = run(job.launch);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->shared_steps.at(2).access(0).at[1], 4);
}

// Recording changes neither counters nor results.
TEST(SharedSteps, WhatIsShownIsWhatIsCounted) {
  Job job;
  job.launch.grid = {1, 1, 1};
  const auto result = run(job.launch);
  ASSERT_TRUE(result);
  for (const auto& [at, steps] : result->shared_steps) {
    uint64_t shown = 0;
    for (size_t step = 0; step < steps.steps.size(); ++step)
      for (const SharedPhase& phase : phases_of(steps.access(step))) shown += static_cast<uint64_t>(phase.wavefronts);
    const bool copies = steps.shapes[0].use == SharedUse::copy;
    EXPECT_EQ(result->instructions[at].wavefronts, copies ? 0 : shown) << at;
    EXPECT_EQ(result->instructions[at].requests, steps.steps.size()) << at;
  }
}

}  // namespace
}  // namespace attnscope::emulator::testing
