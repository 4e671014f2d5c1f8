#include "device/dependences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

namespace attnscope::device {
namespace {

constexpr uint32_t reg(int index) { return emulator::kLaneFileOffset + 128u * static_cast<uint32_t>(index); }

// A straight run, as a list of what each instruction reads and makes.
class StraightRun {
 public:
  StraightRun() {
    program_.lane_registers = 64;
    program_.blocks = {{0, 0}};
  }
  emulator::Op& add(const char* opcode, int stall, uint32_t dst, uint32_t a, uint32_t b = 0,
                    std::vector<std::string> modifiers = {}) {
    compile::SassInstruction instruction;
    instruction.opcode = opcode;
    instruction.modifiers = std::move(modifiers);
    instruction.control.stall = static_cast<uint8_t>(stall);
    sass_.instructions.push_back(instruction);
    emulator::Op op;
    op.dst = dst, op.a = a, op.b = b;
    program_.ops.push_back(op);
    ++program_.blocks.back().count;
    return program_.ops.back();
  }
  void load(uint8_t scoreboard) { sass_.instructions.back().control.write_scoreboard = scoreboard; }
  void new_run() { program_.blocks.push_back({static_cast<uint32_t>(program_.ops.size()), 0}); }
  int last() {
    program_.sass = std::make_shared<compile::SassProgram>(sass_);
    return fixed_dependences(program_).back();
  }

 private:
  compile::SassProgram sass_;
  emulator::Program program_;
};

TEST(Dependences, TheProducerIsWhoWroteTheRegister) {
  StraightRun run;
  run.add("FADD", 1, reg(4), reg(1));
  run.add("FADD", 4, reg(5), reg(1));
  run.add("FMUL", 1, reg(6), reg(5), reg(2));
  EXPECT_EQ(run.last(), 1);
  run.add("FMUL", 1, reg(7), reg(4), reg(2));
  EXPECT_EQ(run.last(), 3);
  run.add("FMUL", 1, reg(7), reg(2), reg(2));
  EXPECT_EQ(run.last(), 0) << "nothing here made R2";
}

TEST(Dependences, TheLatestWriterCounts) {
  StraightRun run;
  run.add("FADD", 4, reg(4), reg(1));
  run.add("FADD", 4, reg(4), reg(1));
  run.add("FMUL", 1, reg(6), reg(4));
  EXPECT_EQ(run.last(), 1);
}

TEST(Dependences, OfTwoResultsTheOneThatIsThereLast) {
  // A product of 24 clocks, and a sum made just before it: the 18 clocks of other work are for the product.
  StraightRun run;
  run.add("HMMA", 2, reg(8), reg(20), reg(24), {"16816", "F32"});
  run.add("IADD3", 10, reg(40), reg(41));
  run.add("IADD3", 12, reg(42), reg(41));
  run.add("FMUL", 1, reg(6), reg(9), reg(40));
  EXPECT_EQ(run.last(), 3) << "the second of the product's four registers";
}

TEST(Dependences, PredicatesAndGuardsAreResults) {
  StraightRun run;
  run.add("ISETP", 2, 0, reg(1)).p = 3;
  run.add("IADD3", 11, reg(5), reg(2));
  run.add("BRA", 5, 0, 0).pred = 3;
  EXPECT_EQ(run.last(), 2);
  StraightRun always;
  always.add("ISETP", 13, 0, reg(1)).p = 3;
  always.add("BRA", 5, 0, 0).pred = emulator::kPredicateTrue;
  EXPECT_EQ(always.last(), 0) << "PT waits for nothing";
}

TEST(Dependences, WhatScoreboardsOrOtherRunsSayIsNotStated) {
  StraightRun run;
  run.add("LDS", 2, reg(4), reg(1));
  run.load(0);
  run.add("FMUL", 1, reg(6), reg(4));
  EXPECT_EQ(run.last(), 0);
  run.add("LDS", 2, reg(14), reg(1));
  run.load(5);
  run.add("FMUL", 1, reg(6), reg(14));
  EXPECT_EQ(run.last(), 0);
  run.add("FADD", 4, reg(5), reg(1));
  run.new_run();
  run.add("FMUL", 1, reg(6), reg(5));
  EXPECT_EQ(run.last(), 0);
}

// Clocks between a producer and its consumer, and whether they are close to the result's usual latency.
TEST(Dependences, AStallFarFromTheUsualLatencyIsThereForAnotherReason) {
  const struct {
    const char* opcode;
    std::vector<std::string> modifiers;
    int first, last;  // clocks
  } kResults[] = {{"FADD", {}, 0, 13},         {"HMMA", {"16816", "F32"}, 16, 32},
                  {"IMMA", {"16832"}, 16, 32}, {"DMMA", {"884"}, 16, 32},
                  {"DFMA", {}, 2, 18},         {"DADD", {}, 2, 18},
                  {"DMUL", {}, 2, 18},         {"DMNMX", {}, 2, 18},
                  {"UIADD3", {}, 4, 20}};
  for (const auto& result : kResults)
    for (int clocks = 0; clocks < 36; ++clocks) {
      StraightRun run;
      run.add(result.opcode, std::min(clocks, 12), reg(10), reg(1), 0, result.modifiers);
      int instructions = 1;
      for (int left = clocks - 12; left > 0; left -= 12, ++instructions)
        run.add("IADD3", std::min(left, 12), reg(40), reg(41));
      run.add("FMUL", 1, reg(6), reg(10));
      const bool near = clocks >= result.first && clocks <= result.last;
      EXPECT_EQ(run.last(), near ? instructions : 0) << result.opcode << " " << clocks;
    }
}

TEST(Dependences, OfEquallyLikelyProducersTheNearestCounts) {
  StraightRun run;
  run.add("FADD", 4, reg(4), reg(1));
  run.add("FADD", 3, reg(5), reg(1));
  run.add("FMUL", 1, reg(6), reg(4), reg(5));
  EXPECT_EQ(run.last(), 1);
}

TEST(Dependences, AWideResultHasAllItsRegisters) {
  const struct {
    const char* opcode;
    std::vector<std::string> modifiers;
    int stall, width;
  } kResults[] = {{"FADD", {}, 5, 1},
                  {"IMAD", {"WIDE"}, 5, 2},
                  {"DFMA", {}, 10, 2},
                  {"HMMA", {"16816", "F16"}, 15, 2},
                  {"HMMA", {"16816", "F32"}, 15, 4}};
  for (const auto& result : kResults)
    for (int index = 9; index < 16; ++index) {
      StraightRun run;
      run.add(result.opcode, result.stall, reg(10), reg(1), 0, result.modifiers);
      run.add("IADD3", result.stall == 15 ? 9 : 0, reg(40), reg(41));
      run.add("FMUL", 1, reg(6), reg(index));
      EXPECT_EQ(run.last(), index >= 10 && index < 10 + result.width ? 2 : 0) << result.opcode << " R" << index;
    }
}

TEST(Dependences, AWideOperandIsAllItsRegisters) {
  using emulator::AccessKind;
  using emulator::Space;
  const struct {
    const char* opcode;
    std::vector<std::string> modifiers;
    AccessKind access;
    Space space;
    int bytes;
    int a, b, c, e;  // registers
  } kReaders[] = {{"FFMA", {}, AccessKind::none, Space::global, 0, 1, 1, 1, 1},
                  {"IMAD", {"WIDE"}, AccessKind::none, Space::global, 0, 1, 1, 2, 1},
                  {"DFMA", {}, AccessKind::none, Space::global, 0, 2, 2, 2, 2},
                  {"HMMA", {"16816", "F32"}, AccessKind::none, Space::global, 0, 4, 2, 4, 1},
                  {"HMMA", {"1688", "F16"}, AccessKind::none, Space::global, 0, 2, 1, 2, 1},
                  {"HMMA", {"1684", "TF32"}, AccessKind::none, Space::global, 0, 2, 1, 4, 1},
                  {"STG", {}, AccessKind::store, Space::global, 16, 2, 1, 4, 2},
                  {"STG", {}, AccessKind::store, Space::global, 2, 2, 1, 1, 2},
                  {"STS", {}, AccessKind::store, Space::shared, 8, 1, 1, 2, 2}};
  for (const auto& reader : kReaders)
    for (const auto& [field, width] : {std::pair{&emulator::Op::a, reader.a},
                                       {&emulator::Op::b, reader.b},
                                       {&emulator::Op::c, reader.c},
                                       {&emulator::Op::e, reader.e}})
      for (int index = 9; index < 16; ++index) {
        StraightRun run;
        run.add("FADD", 5, reg(index), reg(1));
        emulator::Op& op = run.add(reader.opcode, 1, 0, 0, 0, reader.modifiers);
        op.access = reader.access;
        op.space = reader.space;
        op.bytes = static_cast<uint8_t>(reader.bytes);
        op.*field = reg(10);
        EXPECT_EQ(run.last(), index >= 10 && index < 10 + width ? 1 : 0)
            << reader.opcode << " of width " << width << " reads R" << index;
      }
}

TEST(Dependences, UniformRegistersAndPredicatesAreResultsButNotTheConstantOnes) {
  const auto uniform = [](uint32_t index) {
    return static_cast<uint32_t>(offsetof(emulator::Registers, ur)) + 4 * index;
  };
  for (const uint32_t index : {0u, 1u, 62u, 63u}) {
    StraightRun run;
    run.add("UIADD3", 12, uniform(index), uniform(9));
    run.add("FMUL", 1, reg(6), reg(2), uniform(index));
    EXPECT_EQ(run.last(), index < emulator::kUniformZero ? 1 : 0) << "UR" << index;
    StraightRun other;
    other.add("UIADD3", 12, uniform(index), uniform(9));
    other.add("FMUL", 1, reg(6), reg(2), uniform(index + 1));
    EXPECT_EQ(other.last(), 0) << "UR" << index + 1;
  }
  StraightRun zero;  // RZ comes after the 64 registers
  zero.add("FADD", 5, reg(64), reg(1));
  zero.add("FMUL", 1, reg(6), reg(64));
  EXPECT_EQ(zero.last(), 0);
  for (const auto made : {&emulator::Op::p, &emulator::Op::q})
    for (const auto read : {&emulator::Op::pred, &emulator::Op::x, &emulator::Op::y, &emulator::Op::z})
      for (const int slot : {0, 6, 7, 8, 16, 22, 23, 24}) {
        StraightRun run;
        run.add("ISETP", 13, 0, reg(1)).*made = static_cast<uint8_t>(slot);
        run.add("FSEL", 1, reg(6), reg(2)).*read = static_cast<uint8_t>(slot);
        EXPECT_EQ(run.last(), slot % 16 < 7 ? 1 : 0) << "slot " << slot;
      }
}

TEST(Dependences, APredicateTakesLongerThanARegister) {
  for (int clocks = 0; clocks < 24; ++clocks) {
    StraightRun run;
    run.add("ISETP", std::min(clocks, 12), 0, reg(1)).p = 3;
    run.add("IADD3", std::max(clocks - 12, 0), reg(40), reg(41));
    run.add("BRA", 5, 0, 0).pred = 3;
    EXPECT_EQ(run.last(), clocks >= 5 && clocks <= 21 ? 2 : 0) << clocks;
  }
}

TEST(Dependences, ALongWayBackIsNoCause) {
  StraightRun run;
  run.add("FADD", 1, reg(4), reg(1));
  for (int i = 0; i < 6; ++i) run.add("IADD3", 4, reg(10 + i), reg(2));
  run.add("FMUL", 1, reg(6), reg(4));
  EXPECT_EQ(run.last(), 0);
}

}  // namespace
}  // namespace attnscope::device
