#include "device/listing.h"

#include <gtest/gtest.h>

namespace attnscope::device {
namespace {

using model::Stall;

// Two instructions of a loop and an exit, with lines and an inlined call.
compile::SassProgram program() {
  compile::SassProgram sass;
  sass.kernel.name = "kernel";
  sass.files = {"k.cu", "cuda_fp16.hpp"};
  compile::SassInstruction add;
  add.text = "@P0 FADD R4, R1, R2";
  add.opcode = "FADD";
  add.predicate = 0;
  add.line = {1, 700};
  add.inlined_at = {{0, 8}};
  add.control = {4, 0, 7, 5, 1};
  sass.instructions.push_back(add);
  compile::SassInstruction branch;
  branch.text = "BRA 0x0";
  branch.opcode = "BRA";
  branch.high = uint64_t{1} << 45;
  compile::SassOperand label;
  label.kind = compile::OperandKind::label;
  branch.operands = {label};
  sass.instructions.push_back(branch);
  compile::SassInstruction exit;
  exit.text = exit.opcode = "EXIT";
  sass.instructions.push_back(exit);
  return sass;
}

TEST(Listing, HasPlacesControlAndWhereCodeGoes) {
  const Listing listing = listing_of(program(), nullptr, nullptr).value();
  ASSERT_EQ(listing.lines.size(), 3u);
  const CodeLine &add = listing.lines[0], &branch = listing.lines[1], &exit = listing.lines[2];
  EXPECT_EQ(add.text, "@P0 FADD R4, R1, R2");
  EXPECT_EQ(add.places, (std::vector<CodePlace>{{1, 700}, {0, 8}}));
  EXPECT_EQ(add.control, (CodeControl{4, true, 0, 7, 5, 1}));
  EXPECT_TRUE(add.guarded);
  EXPECT_TRUE(add.falls_through);
  EXPECT_FALSE(branch.control.yields);
  EXPECT_TRUE(branch.places.empty());
  EXPECT_EQ(branch.targets, std::vector<int64_t>{0});
  EXPECT_FALSE(branch.falls_through);
  EXPECT_FALSE(exit.falls_through);
  EXPECT_FALSE(listing.counted);
}

TEST(Listing, AGuardedOrConditionalJumpGoesOn) {
  compile::SassProgram sass = program();
  sass.instructions[1].predicate = 3;
  sass.instructions[2].predicate = 2;
  Listing listing = listing_of(sass, nullptr, nullptr).value();
  EXPECT_TRUE(listing.lines[1].falls_through);
  EXPECT_TRUE(listing.lines[2].falls_through);
  compile::SassOperand condition;
  condition.kind = compile::OperandKind::uniform_reg;
  sass.instructions[1].predicate = 7;
  sass.instructions[1].operands.insert(sass.instructions[1].operands.begin(), condition);
  EXPECT_TRUE(listing_of(sass, nullptr, nullptr)->lines[1].falls_through);
}

TEST(Listing, CountsAreTheRunsAndTimeIsTheProducers) {
  CodeRun run;
  run.instructions.resize(3);
  run.instructions[0] = {{.wavefronts = 40, .ideal = 10, .sectors = 7}, 10, 320};
  run.stalls = {{TermKind::issue, 0, 0, 1.5},
                {TermKind::instruction_latency, 0, 1, 2},
                {TermKind::tail, Stall::kNone, Stall::kNone, 9}};
  run.emulated_ctas = 2;
  run.total_ctas = 8;
  run.shared[1] = {.shapes = {{{0, 128}, 3, 4, SharedUse::load}}, .steps = {{.warp = 2, .base = 256}}};
  run.places = {{"tile", 0, 4096}};
  const Listing listing = listing_of(program(), nullptr, &run).value();
  EXPECT_TRUE(listing.counted);
  EXPECT_EQ(listing.lines[1].shared, run.shared[1]);
  EXPECT_FALSE(listing.lines[0].shared);
  EXPECT_EQ(listing.places, run.places);
  EXPECT_EQ(listing.lines[0].counts, (CodeCounts{10, 320, 40, 10, 7, 3.5}));
  EXPECT_EQ(listing.lines[1].counts, CodeCounts{});
  EXPECT_EQ(listing.total_ctas, 8);
  run.instructions.resize(2);
  EXPECT_FALSE(listing_of(program(), nullptr, &run)->counted) << "of other code";
}

TEST(Listing, ReadsAndWritesComeFromTheDecodedCode) {
  constexpr auto reg = [](int index) { return emulator::kLaneFileOffset + 128u * static_cast<uint32_t>(index); };
  emulator::Program decoded;
  decoded.sass = std::make_shared<compile::SassProgram>(program());
  decoded.ops.resize(3);
  decoded.lane_registers = 16;
  decoded.ops[0].dst = reg(4), decoded.ops[0].a = reg(1), decoded.ops[0].b = reg(2), decoded.ops[0].pred = 0;
  const Listing listing = listing_of(program(), &decoded, nullptr).value();
  EXPECT_EQ(listing.lines[0].reads, (std::vector<int64_t>{1, 2, code_value::kPredicate}));
  EXPECT_EQ(listing.lines[0].writes, std::vector<int64_t>{4});
  EXPECT_EQ(code_value::name(4), "R4");
  EXPECT_EQ(code_value::name(code_value::kPredicate), "P0");
  EXPECT_EQ(code_value::name(code_value::kUniformPredicate + 1), "UP1");
  EXPECT_EQ(code_value::name(code_value::kUniform + 2), "UR2");
}

TEST(Listing, MatricesComeFromTheDecodedCode) {
  compile::SassProgram sass = program();
  sass.instructions[0].opcode = "LDSM";
  emulator::Program decoded;
  decoded.sass = std::make_shared<compile::SassProgram>(sass);
  decoded.ops.resize(3);
  decoded.lane_registers = 16;
  decoded.ops[0].dst = emulator::kLaneFileOffset + 128 * 4;
  decoded.ops[0].detail.matrices = 2;
  const Listing listing = listing_of(sass, &decoded, nullptr).value();
  EXPECT_EQ(listing.lines[0].fragments, (std::vector<MatrixFragment>{{MatrixName::d, 16, 8, 16, 2, false, 4}}));
  EXPECT_TRUE(listing.lines[1].fragments.empty());
  EXPECT_TRUE(listing_of(sass, nullptr, nullptr)->lines[0].fragments.empty()) << "nothing is decoded";
}

TEST(Listing, CodeThatIsTooLongIsRefused) {
  compile::SassProgram sass = program();
  sass.instructions.resize(Listing::kMostLines + 1);
  EXPECT_EQ(listing_of(sass, nullptr, nullptr).error().stage, Stage::decode);
}

}  // namespace
}  // namespace attnscope::device
