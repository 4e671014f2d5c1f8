// Which registers an instruction reads from which bank.
#include "device/register_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compile/sass_operand.h"

namespace attnscope::device {
namespace {

using model::Unit;
using testing::ElementsAre;

struct Line {
  Unit unit;
  std::string opcode, operands;
  std::vector<std::string> modifiers = {};
  emulator::TensorShape shape = {};  // of a product
};

constexpr emulator::TensorShape shape_of(emulator::Number factors, emulator::Number sums, uint8_t depth) {
  return {{}, factors, factors, sums, 16, depth, false};
}

std::vector<model::ScheduledInstruction> counted(const std::vector<Line>& lines) {
  std::vector<compile::SassInstruction> instructions;
  std::vector<emulator::Op> ops;
  std::vector<model::ScheduledInstruction> scheduled;
  for (const Line& line : lines) {
    compile::SassInstruction& one = instructions.emplace_back();
    one.opcode = line.opcode;
    one.modifiers = line.modifiers;
    one.operands = compile::parse_operands(line.operands, {});
    ops.emplace_back().detail.tensor = line.shape;
    scheduled.emplace_back().unit = line.unit;
  }
  count_bank_reads(instructions, ops, scheduled);
  return scheduled;
}

std::array<uint8_t, 2> reads(const Line& line) { return counted({line}).front().bank_reads; }

TEST(RegisterReads, EvenAndOddRegistersAreInTwoBanks) {
  EXPECT_THAT(reads({Unit::fp32, "FFMA", "R1, R2, R4, R7"}), ElementsAre(2, 1));
  EXPECT_THAT(reads({Unit::fp32, "FFMA", "R0, R3, R5, R7"}), ElementsAre(0, 3));
  EXPECT_THAT(reads({Unit::fp32, "FADD", "R0, -R3, |R4|"}), ElementsAre(1, 1));
}

TEST(RegisterReads, RzConstantsPredicatesAndUniformRegistersAreInNone) {
  EXPECT_THAT(reads({Unit::fp32, "FFMA", "R1, RZ, c[0x0][0x210], R4"}), ElementsAre(1, 0));
  EXPECT_THAT(reads({Unit::integer, "IADD3", "R1, P0, R2, UR4, RZ"}), ElementsAre(1, 0));
  EXPECT_THAT(reads({Unit::integer, "ISETP", "P0, PT, R3, R5, PT"}), ElementsAre(0, 2));
}

TEST(RegisterReads, ARegisterIsReadOnceForAllItsPlaces) {
  EXPECT_THAT(reads({Unit::fp32, "FFMA", "R1, R2, R2, R2"}), ElementsAre(1, 0));
}

TEST(RegisterReads, AWideOperandIsSeveralRegisters) {
  EXPECT_THAT(reads({Unit::imad, "IMAD", "R8, R12, R16, R20", {"WIDE"}}), ElementsAre(3, 1));
  EXPECT_THAT(reads({Unit::imad, "IMAD", "R8, R12, R17, R20", {"WIDE"}}), ElementsAre(2, 2)) << "only what is added";
}

// A has 16 rows, B has 8 columns and C has both, as the PTX ISA draws their fragments; B in one register is in R16's
// bank.
TEST(RegisterReads, AProductReadsTheRegistersOfItsMatrices) {
  using enum emulator::Number;
  const auto product = [](const emulator::TensorShape& shape) {
    return reads({Unit::tensor, "HMMA", "R8, R12, R16, R20", {}, shape});
  };
  EXPECT_THAT(product(shape_of(f16, f32, 16)), ElementsAre(5, 5)) << "4 + 2 + 4";
  EXPECT_THAT(product(shape_of(f16, f16, 16)), ElementsAre(4, 4)) << "4 + 2 + 2";
  EXPECT_THAT(product(shape_of(f16, f32, 8)), ElementsAre(4, 3)) << "2 + 1 + 4";
  EXPECT_THAT(product(shape_of(f32, f32, 8)), ElementsAre(5, 5)) << "TF32: 4 + 2 + 4";
  EXPECT_THAT(product(shape_of(s8, s32, 16)), ElementsAre(4, 3)) << "2 + 1 + 4";
  EXPECT_THAT(product(shape_of(s8, s32, 32)), ElementsAre(5, 5)) << "4 + 2 + 4";
}

TEST(RegisterReads, AnOperandMarkedReuseIsThereForTheNextInstructionInItsPlace) {
  const auto all = counted({{Unit::fp32, "FFMA", "R1, R2.reuse, R4, R7"},
                            {Unit::fp32, "FFMA", "R3, R2, R6, R9"},
                            {Unit::fp32, "FFMA", "R5, R2, R8, R9"}});
  EXPECT_THAT(all[1].bank_reads, ElementsAre(1, 1));
  EXPECT_THAT(all[1].bank_reads_alone, ElementsAre(2, 1)) << "behind another warp it is not";
  EXPECT_THAT(all[2].bank_reads, ElementsAre(2, 1)) << "the second did not mark it";
  const auto elsewhere =
      counted({{Unit::fp32, "FFMA", "R1, R2.reuse, R4, R7"}, {Unit::fp32, "FFMA", "R3, R6, R2, R9"}});
  EXPECT_THAT(elsewhere[1].bank_reads, ElementsAre(2, 1));
}

TEST(RegisterReads, MemoryInstructionsTakeTheirOperandsLater) {
  EXPECT_THAT(reads({Unit::shared_store, "STS", "[R2], R4"}), ElementsAre(0, 0));
}

}  // namespace
}  // namespace attnscope::device
