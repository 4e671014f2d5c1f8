#include "device/model_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/isa/program.h"

namespace attnscope::device {
namespace {

using model::Unit;
using ::testing::ElementsAre;

// "LDG.E.128" as nvdisasm splits it.
compile::SassInstruction instruction_of(const std::string& text) {
  compile::SassInstruction instruction;
  size_t dot = text.find('.');
  instruction.opcode = text.substr(0, dot);
  while (dot != std::string::npos) {
    const size_t next = text.find('.', dot + 1);
    instruction.modifiers.push_back(text.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  return instruction;
}

// The model's instruction for the counters of this one.
model::ScheduledInstruction scheduled(compile::SassInstruction instruction,
                                      const emulator::InstructionCounters& counters = {}) {
  compile::SassProgram sass;
  sass.instructions.push_back(std::move(instruction));
  emulator::Program program;
  program.ops.resize(1);
  program.blocks = {{0, 1}};
  program.sass = std::make_shared<compile::SassProgram>(std::move(sass));
  emulator::RunResult result;
  result.instructions = {counters};
  return schedule_of(program, result, {}, {1, 1, 1}).code.at(0);
}
model::ScheduledInstruction scheduled(const char* text, const emulator::InstructionCounters& counters = {}) {
  return scheduled(instruction_of(text), counters);
}

TEST(ModelInput, EachInstructionOccupiesItsUnit) {
  const std::pair<Unit, std::vector<const char*>> kUnits[] = {
      {Unit::fp32, {"FADD", "FMUL", "FFMA", "FFMA32I", "FMUL32I", "FADD32I"}},
      {Unit::fp16x2, {"HADD2", "HMUL2", "HFMA2", "HADD2.BF16_V2"}},
      {Unit::half_to_float, {"HADD2.F32"}},
      {Unit::fp64, {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"}},
      {Unit::imad, {"IMAD", "IMAD.WIDE", "IDP"}},
      {Unit::mufu, {"MUFU.EX2"}},
      {Unit::conversion, {"F2I", "I2F", "F2F", "FRND"}},
      {Unit::tensor, {"HMMA.16816.F32", "IMMA", "DMMA"}},
      {Unit::shuffle, {"SHFL", "VOTE", "MATCH", "REDUX"}},
      {Unit::shared_load, {"LDS", "LDSM", "ATOMS"}},
      {Unit::shared_store, {"STS"}},
      {Unit::global_load, {"LDG.E", "LD", "ATOM", "ATOMG"}},
      {Unit::global_store, {"STG.E", "ST", "RED", "REDG"}},
      {Unit::async_copy, {"LDGSTS"}},
      {Unit::local_load, {"LDL"}},
      {Unit::local_store, {"STL"}},
      {Unit::constant_load, {"LDC", "ULDC", "S2R", "S2UR", "CS2R"}},
      {Unit::barrier, {"BAR"}},
      {Unit::uniform, {"R2UR", "UIADD3", "ULOP3"}},
      {Unit::control,
       {"BRA", "BSSY", "BSYNC", "EXIT", "NOP", "WARPSYNC", "CALL", "RET", "BREAK", "BRX", "ENDCOLLECTIVE", "YIELD",
        "DEPBAR", "BMOV", "MEMBAR", "ERRBAR", "CCTL", "LDGDEPBAR"}},
      {Unit::integer, {"IADD3", "LOP3", "MOV", "PRMT", "FMNMX"}}};
  for (const auto& [unit, texts] : kUnits)
    for (const char* text : texts) EXPECT_EQ(scheduled(text).unit, unit) << text;
}

TEST(ModelInput, ATensorInstructionsWorkFollowsItsShape) {
  const std::pair<const char*, float> kProducts[] = {{"HMMA.16816.F32", 1},
                                                     {"HMMA.1688.F32", 0.5F},
                                                     {"HMMA.1688.F32.TF32", 1},
                                                     {"HMMA.1684.F32.TF32", 0.5F},
                                                     {"IMMA.16832.S8.S8", 1},
                                                     {"IMMA.16816.S8.S8", 0.5F},
                                                     {"IMMA.8816.S8.S8", 0.25F},
                                                     {"IMMA.1688.S8", 1},
                                                     {"DMMA.884", 1},
                                                     {"FADD.1684", 1}};
  for (const auto& [text, products] : kProducts) EXPECT_EQ(scheduled(text).products, products) << text;
}

TEST(ModelInput, OnlyProductsOfFp64LeaveTheClock) {
  EXPECT_TRUE(scheduled("DMMA.884").fp64);
  for (const char* text : {"HMMA.16816.F32", "IMMA.16832.S8.S8", "DFMA"}) EXPECT_FALSE(scheduled(text).fp64) << text;
}

TEST(ModelInput, ASharedLoadOfFourRegistersIsWide) {
  for (const char* text : {"LDS.128", "LDS.U.128", "LDSM.16.M88.4", "LDSM.16.MT88.4"})
    EXPECT_TRUE(scheduled(text).wide) << text;
  for (const char* text : {"LDS", "LDS.64", "LDSM.16.M88.2", "LDSM.16.M88", "STS.128", "LDG.E.128"})
    EXPECT_FALSE(scheduled(text).wide) << text;
}

TEST(ModelInput, WhatTheCodeStatesIsTakenOver) {
  compile::SassInstruction load = instruction_of("LDG.E.BYPASS");
  load.control = {.stall = 5, .write_scoreboard = 2, .read_scoreboard = 3, .wait_mask = 9};
  const model::ScheduledInstruction made = scheduled(load);
  EXPECT_EQ(made.stall, 5);
  EXPECT_EQ(made.write_scoreboard, 2);
  EXPECT_EQ(made.read_scoreboard, 3);
  EXPECT_EQ(made.wait_mask, 9);
  EXPECT_TRUE(made.bypasses_l1);
  EXPECT_FALSE(made.closes_copies);
  EXPECT_EQ(made.copies_pending, -1);
  EXPECT_EQ(made.issued, 0);
  EXPECT_EQ(made.lanes, 32) << "it never ran";
  EXPECT_FALSE(scheduled("LDG.E").bypasses_l1);
  EXPECT_TRUE(scheduled("LDGDEPBAR").closes_copies);
  EXPECT_FALSE(scheduled("DEPBAR").closes_copies);
}

TEST(ModelInput, AWaitForCopiesSaysHowManyMayBePending) {
  const auto pending = [](const char* opcode, std::vector<int64_t> values) {
    compile::SassInstruction wait = instruction_of(opcode);
    for (const int64_t value : values) wait.operands.emplace_back().value = value;
    return scheduled(wait).copies_pending;
  };
  EXPECT_EQ(pending("DEPBAR.LE", {0, 3}), 3);
  EXPECT_EQ(pending("DEPBAR.LE", {0, 0}), 0);
  EXPECT_EQ(pending("DEPBAR.LE", {0, -1}), 0);
  EXPECT_EQ(pending("DEPBAR.LE", {0, 126}), 126);
  EXPECT_EQ(pending("DEPBAR.LE", {0, 200}), 127);
  EXPECT_EQ(pending("DEPBAR.LE", {4}), -1);
  EXPECT_EQ(pending("BAR", {0, 3}), -1);
}

TEST(ModelInput, FiguresAreMeansOverTheIssues) {
  const emulator::InstructionCounters all{
      {.requests = 2, .wavefronts = 12, .ideal = 8, .sectors = 20, .lines = 8, .passes = 6}, 4, 96, 96};
  for (const char* text : {"LDS", "STS"}) {
    const model::ScheduledInstruction shared = scheduled(text, all);
    EXPECT_EQ(shared.issued, 4);
    EXPECT_EQ(shared.lanes, 24);
    EXPECT_EQ(shared.passes, 3) << text;
    EXPECT_EQ(shared.conflicts, 1) << text;
    EXPECT_EQ(shared.sectors, 0) << text;
  }
  const model::ScheduledInstruction copy = scheduled("LDGSTS", all);
  EXPECT_EQ(copy.passes, 3);
  EXPECT_EQ(copy.conflicts, 1);
  EXPECT_EQ(copy.sectors, 5);
  const model::ScheduledInstruction load = scheduled("LDG.E", all);  // 10 sectors, in 3 clocks, in each of two requests
  EXPECT_EQ(load.passes, 1.5F);
  EXPECT_EQ(load.conflicts, 0);
  EXPECT_EQ(load.sectors, 5);
  for (const emulator::InstructionCounters& none :
       {emulator::InstructionCounters{{.requests = 0, .sectors = 20}, 4, 96},
        emulator::InstructionCounters{{.requests = 2, .sectors = 0}, 4, 96}}) {
    EXPECT_EQ(scheduled("LDG.E", none).passes, 0);
    EXPECT_EQ(scheduled("LDG.E", none).sectors, 0);
  }
}

TEST(ModelInput, AtomicsTakeTurnsPastTheFirstLevel) {
  const emulator::InstructionCounters counters{
      {.requests = 4, .wavefronts = 12, .ideal = 4, .sectors = 4, .lines = 4, .passes = 4, .turns = 100}, 4, 128, 128};
  for (const char* text : {"REDG.E.ADD", "ATOMG.E.ADD", "RED", "ATOM"}) {
    EXPECT_EQ(scheduled(text, counters).turns, 25) << text;
    EXPECT_EQ(scheduled(text, counters).passes, 1) << text;
    EXPECT_TRUE(scheduled(text, counters).bypasses_l1) << text;
  }
  EXPECT_EQ(scheduled("ATOMS.ADD", counters).passes, 25);
  EXPECT_EQ(scheduled("ATOMS.ADD", counters).conflicts, 0) << "its queue is one of atomics";
  EXPECT_FALSE(scheduled("ATOMS.ADD", counters).bypasses_l1);
  EXPECT_EQ(scheduled("ATOMS.POPC.INC.32", counters).passes, 3) << "lanes at one word are combined";
}

// 40 of 400 CTAs ran. What several of them do in a sector grows with the grid; what one does in 512 bytes of its own
// does not.
TEST(ModelInput, TheBusiestSectorStandsForTheGrid) {
  compile::SassProgram sass;
  sass.instructions = {instruction_of("REDG.E.ADD"), instruction_of("REDG.E.ADD.F32.FTZ.RN")};
  emulator::Program program;
  program.ops.resize(2);
  program.blocks = {{0, 2}};
  program.sass = std::make_shared<compile::SassProgram>(std::move(sass));
  emulator::RunResult result;
  result.instructions.resize(2);
  result.counters.ctas = 40;
  result.counters.total_ctas = 400;
  result.hottest = {.sector = {320, 10, 1}, .piece = {64, 1, 0}};
  const model::HotSpots spots = schedule_of(program, result, {}, {400, 1, 1}).hottest;
  EXPECT_DOUBLE_EQ(spots.sector, 3200);
  EXPECT_DOUBLE_EQ(spots.piece, 64);
  EXPECT_EQ(spots.instruction, 1u);
  EXPECT_TRUE(spots.floating);
  result.hottest.sector.instruction = 0;
  EXPECT_FALSE(schedule_of(program, result, {}, {400, 1, 1}).hottest.floating);
}

TEST(ModelInput, BlocksTracesAndDependencesAreTakenOver) {
  compile::SassProgram sass;
  for (const char* text : {"FADD", "FMUL", "EXIT"}) {
    sass.instructions.push_back(instruction_of(text));
    sass.instructions.back().control.stall = 4;
  }
  emulator::Program program;
  program.lane_registers = 8;
  program.ops.resize(3);
  program.ops[0].dst = program.ops[1].a = emulator::kLaneFileOffset + 128;
  program.blocks = {{0, 2}, {2, 1}};
  program.sass = std::make_shared<compile::SassProgram>(std::move(sass));
  emulator::RunResult result;
  result.instructions.resize(3);
  using Trace = emulator::CtaTrace;
  result.traces.push_back({6, {{{Trace::entry(0, 32), Trace::entry(1, 1)}, {{1, 1, 7}}}, {{Trace::entry(0, 5)}, {}}}});
  Problem problem;
  problem.seq_q = 100;
  problem.seq_k = 50;
  const model::KernelSchedule schedule = schedule_of(program, result, problem, {8, 3, 1});
  ASSERT_EQ(schedule.code.size(), 3u);
  EXPECT_EQ(schedule.code[0].waits_for, 0);
  EXPECT_EQ(schedule.code[1].waits_for, 1);
  ASSERT_EQ(schedule.blocks.size(), 2u);
  EXPECT_EQ(schedule.blocks[1].first, 2u);
  EXPECT_EQ(schedule.blocks[1].count, 1u);
  ASSERT_EQ(schedule.traces.size(), 1u);
  EXPECT_EQ(schedule.traces[0].cta, 6);
  ASSERT_EQ(schedule.traces[0].warps.size(), 2u);
  ASSERT_EQ(schedule.traces[0].warps[0].size(), 2u);
  EXPECT_EQ(schedule.traces[0].warps[0][1].block, 1u);
  EXPECT_EQ(schedule.traces[0].warps[0][1].lanes, 1u);
  EXPECT_EQ(schedule.traces[0].warps[1][0].lanes, 5u);
  EXPECT_EQ(schedule.traces[0].loops_of(0), (std::vector<Folded::Loop>{{1, 1, 7}}));
  EXPECT_TRUE(schedule.traces[0].loops_of(1).empty());
  EXPECT_EQ(schedule.global_bytes_per_cta, (13 + 2 * 50) * 64 * 2) << "13 of the 100 query rows, all of K and V";
  EXPECT_EQ(schedule_of(program, result, problem, {1, 8, 1}).global_bytes_per_cta, (100 + 2 * 50) * 64 * 2);
}

TEST(ModelInput, WithAMaskCtasFromTheFirstToTheLastAreTraced) {
  Problem masked, plain;
  masked.causal = Causal::top_left;
  plain.causal = Causal::none;
  EXPECT_THAT(ctas_to_trace(plain, {100, 4, 1}, {}), ElementsAre(0));
  EXPECT_THAT(ctas_to_trace(plain, {100, 4, 1}, {7, 9}), ElementsAre(7));
  EXPECT_THAT(ctas_to_trace(masked, {1, 4, 1}, {}), ElementsAre(0)) << "no CTA differs from another";
  EXPECT_THAT(ctas_to_trace(masked, {1, 4, 1}, {3}), ElementsAre(3));
  EXPECT_THAT(ctas_to_trace(masked, {2, 4, 1}, {}), ElementsAre(0, 1));
  EXPECT_THAT(ctas_to_trace(masked, {4, 4, 1}, {}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ctas_to_trace(masked, {100, 4, 1}, {}), ElementsAre(0, 12, 25, 37, 50, 62, 74, 87, 99));
  // The CTAs of a sample that are nearest along x.
  EXPECT_THAT(ctas_to_trace(masked, {100, 4, 1}, {3, 50, 120, 260}), ElementsAre(3, 50, 120, 260));
  EXPECT_THAT(ctas_to_trace(masked, {100, 4, 1}, {9, 250, 355}), ElementsAre(9, 250, 355));
  EXPECT_THAT(ctas_to_trace(masked, {100, 4, 1}, {215, 316}), ElementsAre(215, 316));
  EXPECT_THAT(ctas_to_trace(masked, {100, 4, 1}, {101}), ElementsAre(101));
}

}  // namespace
}  // namespace attnscope::device
