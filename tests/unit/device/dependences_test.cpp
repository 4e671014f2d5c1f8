#include "device/dependences.h"

#include <gtest/gtest.h>

namespace attnscope::device {
namespace {

constexpr uint32_t reg(int index) { return emulator::kLaneFileOffset + 128u * static_cast<uint32_t>(index); }

// A straight run, written as what each instruction reads and makes.
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
  // A product of 24 clocks and a sum made just before: 18 clocks of other work are for the product.
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
  run.add("FADD", 4, reg(5), reg(1));
  run.new_run();
  run.add("FMUL", 1, reg(6), reg(5));
  EXPECT_EQ(run.last(), 0);
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
