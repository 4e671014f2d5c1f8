#include "compile/sass_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "compile/code_hash.h"
#include "compile/sass.h"
#include "compile/sass_operand.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

std::string hexadecimal(int64_t value) {
  char text[32];
  std::snprintf(
      text, sizeof text, "%s0x%llx", value < 0 ? "-" : "",
      static_cast<unsigned long long>(value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value)));
  return text;
}

std::string name(const char* prefix, int index, int constant, char letter) {
  return prefix + (index == constant ? std::string(1, letter) : std::to_string(index));
}

std::string dotted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += "." + word;
  return text;
}

// The terms in an address's brackets: base, uniform part, offset.
std::string terms(const SassOperand& operand) {
  std::string text;
  if (operand.reg >= 0)
    text = (operand.reg_is_uniform ? name("UR", operand.reg, 63, 'Z') : name("R", operand.reg, 255, 'Z')) +
           dotted(operand.modifiers);
  if (operand.uniform_offset >= 0) text += "+" + name("UR", operand.uniform_offset, 63, 'Z');
  if (operand.value != 0 || text.empty()) text += (text.empty() ? "" : "+") + hexadecimal(operand.value);
  return text;
}

// Writes an operand's fields as nvdisasm does, with code that is independent of the parser.
std::string written(const SassOperand& operand, const std::map<uint32_t, std::vector<std::string>>& labels) {
  std::string text;
  switch (operand.kind) {
    case OperandKind::reg:
      text = name("R", operand.reg, 255, 'Z');
      break;
    case OperandKind::uniform_reg:
      text = name("UR", operand.reg, 63, 'Z');
      break;
    case OperandKind::predicate:
      text = name("P", operand.reg, 7, 'T');
      break;
    case OperandKind::uniform_pred:
      text = name("UP", operand.reg, 7, 'T');
      break;
    case OperandKind::barrier:
      text = "B" + std::to_string(operand.reg);
      break;
    case OperandKind::scoreboard:
      text = "SB" + std::to_string(operand.reg);
      break;
    case OperandKind::immediate:
      if (operand.is_float) return operand.raw;  // its bits are checked instead
      return hexadecimal(operand.value);
    case OperandKind::constant:
      text = "c[" + hexadecimal(operand.bank) + "][" + terms(operand) + "]";
      break;
    case OperandKind::address:
      text = operand.descriptor >= 0 ? "desc[" + name("UR", operand.descriptor, 63, 'Z') + "]" : "";
      text += "[" + terms(operand) + "]";
      break;
    case OperandKind::label: {
      const auto found = labels.find(static_cast<uint32_t>(operand.value));
      if (found == labels.end()) return "no label there";
      for (const std::string& label : found->second)
        if (operand.raw == "`(" + label + ")") return operand.raw;
      return "another label";
    }
    case OperandKind::special:
      return operand.raw.starts_with("SR") ? operand.raw : "not special";
    case OperandKind::text:
      return "not understood";
  }
  const bool brackets = operand.kind == OperandKind::constant || operand.kind == OperandKind::address;
  if (!brackets) text += std::string(operand.reuse ? ".reuse" : "") + dotted(operand.modifiers);
  if (operand.absolute)
    text = operand.reuse ? "|" + text.substr(0, text.find('.')) + "|" + text.substr(text.find('.')) : "|" + text + "|";
  const bool is_predicate = operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_pred;
  if (operand.invert) text = (is_predicate ? "!" : "~") + text;
  return operand.negate ? "-" + text : text;
}

class RecordedText : public testing::TestWithParam<Recorded> {
 protected:
  void SetUp() override {
    text = text_of(recorded_file(GetParam(), ".txt"));
    cubin = text_of(recorded_file(GetParam(), ".cubin"));
    auto read = read_cubin(bytes_of(cubin), "features");
    ASSERT_TRUE(read) << read.error().message;
    kernel = *read;
    auto parsed = parse_nvdisasm(text, kernel);
    ASSERT_TRUE(parsed) << parsed.error().message;
    program = std::move(*parsed);
  }
  const SassInstruction* find(const std::string& opcode) const {
    for (const SassInstruction& instruction : program.instructions)
      if (instruction.opcode == opcode) return &instruction;
    return nullptr;
  }

  std::string text, cubin;
  CubinKernel kernel;
  SassProgram program;
};

INSTANTIATE_TEST_SUITE_P(All, RecordedText, testing::ValuesIn(recordings()), recorded_name);

TEST_P(RecordedText, HoldsEveryInstructionAtItsPlace) {
  ASSERT_EQ(program.instructions.size() * 16, kernel.text.size());
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const SassInstruction& instruction = program.instructions[i];
    EXPECT_EQ(instruction.offset, i * 16);
    EXPECT_FALSE(instruction.opcode.empty());
  }
  EXPECT_EQ(program.code_hash, code_hash(kernel));
}

TEST_P(RecordedText, EveryOperandIsUnderstoodAndLosesNothing) {
  std::map<uint32_t, std::vector<std::string>> labels;
  for (const auto& [function, offset] : kernel.functions) labels[offset].push_back(function);
  // Reads branch labels again in the simplest way: a line at column 0 names the next instruction's offset.
  std::istringstream lines(kernel_section(text, "features"));
  std::vector<std::string> waiting;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".L_") && line.ends_with(":")) waiting.push_back(line.substr(0, line.size() - 1));
    if (const size_t at = line.find("/*"); at != std::string::npos && line.substr(at, 5) != "/* 0x") {
      const auto offset = static_cast<uint32_t>(std::stoul(line.substr(at + 2), nullptr, 16));
      for (const std::string& label : waiting) labels[offset].push_back(label);
      waiting.clear();
    }
  }
  size_t operands = 0;
  for (const SassInstruction& instruction : program.instructions)
    for (const SassOperand& operand : instruction.operands) {
      EXPECT_EQ(written(operand, labels), operand.raw) << instruction.text;
      ++operands;
    }
  EXPECT_GT(operands, program.instructions.size());
}

TEST_P(RecordedText, FloatImmediatesHaveTheBitsOfTheirEncoding) {
  size_t floats = 0;
  for (const SassInstruction& instruction : program.instructions) {
    std::vector<const SassOperand*> found;
    for (const SassOperand& operand : instruction.operands)
      if (operand.kind == OperandKind::immediate && operand.is_float) found.push_back(&operand);
    floats += found.size();
    if (found.size() == 2) {
      EXPECT_EQ(static_cast<uint64_t>(found[0]->value) << 16 | static_cast<uint64_t>(found[1]->value),
                instruction.low >> 32)
          << instruction.text;
    } else if (found.size() == 1) {
      EXPECT_EQ(static_cast<uint64_t>(found[0]->value), instruction.low >> 32) << instruction.text;
    }
  }
  EXPECT_GT(floats, 4u);
  const SassInstruction* add = find("DFMA");
  ASSERT_NE(add, nullptr);
}

TEST_P(RecordedText, ReadsTheGuardOpcodeAndModifiers) {
  const SassInstruction* load = find("LDG");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->modifiers.front(), "E");
  EXPECT_EQ(load->operands[0].kind, OperandKind::reg);
  EXPECT_EQ(load->operands[1].kind, OperandKind::address);
  EXPECT_EQ(load->operands[1].modifiers, std::vector<std::string>{"64"});
  EXPECT_EQ(load->operands[1].descriptor >= 0, GetParam().arch >= 90);
  const SassInstruction* exit = find("EXIT");
  ASSERT_NE(exit, nullptr);
  const bool guarded = std::any_of(program.instructions.begin(), program.instructions.end(),
                                   [](const auto& i) { return i.predicate != 7 && i.predicate_negated; });
  EXPECT_TRUE(guarded);
}

TEST_P(RecordedText, ResolvesTheTargetsOfCallsBranchesAndTables) {
  const SassInstruction* call = find("CALL");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->operands.back().kind, OperandKind::label);
  EXPECT_EQ(call->operands.back().value, kernel.functions.at("$features$_Z6calledfi"));
  const SassInstruction* ret = find("RET");
  ASSERT_NE(ret, nullptr);
  ASSERT_EQ(ret->operands.size(), 2u);
  EXPECT_EQ(ret->operands[0].kind, OperandKind::reg);
  EXPECT_EQ(ret->operands[1].value, 0);  // `(features): relative to the kernel's start
  const SassInstruction* table = find("BRX");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->operands[1].value, -static_cast<int64_t>(table->offset) - 16);
  EXPECT_GE(table->targets.size(), 2u);
  for (const uint32_t target : table->targets) {
    EXPECT_EQ(target % 16, 0u);
    EXPECT_LT(target, kernel.text.size());
  }
}

TEST_P(RecordedText, ReadsTheControlBits) {
  size_t waits = 0;
  for (const SassInstruction& instruction : program.instructions) {
    waits += instruction.control.wait_mask != 0;
    // Variable-latency loads must say which scoreboard signals their result.
    if (instruction.opcode == "LDS" || instruction.opcode == "S2R") {
      EXPECT_LT(instruction.control.write_scoreboard, 6) << instruction.text;
    }
    if (instruction.opcode == "FADD" || instruction.opcode == "FFMA") {
      EXPECT_EQ(instruction.control.write_scoreboard, 7) << instruction.text;
    }
    const bool reused = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                    [](const SassOperand& operand) { return operand.reuse; });
    EXPECT_EQ(reused, instruction.control.reuse != 0) << instruction.text;
  }
  EXPECT_GT(waits, 5u);
}

TEST_P(RecordedText, ReadsTheChainOfInlinedCalls) {
  ASSERT_FALSE(program.files.empty());
  size_t own = program.files.size();
  for (size_t i = 0; i < program.files.size(); ++i)
    if (program.files[i] == "features.cu") own = i;
  ASSERT_LT(own, program.files.size()) << "the folder given to the compiler is taken off";
  // innermost() at line 14 is called by middle() at 15, which the kernel calls at 24.
  const bool found =
      std::any_of(program.instructions.begin(), program.instructions.end(), [&](const auto& instruction) {
        const auto& chain = instruction.inlined_at;
        if (chain.size() < 2) return false;
        const SassLine& outer = chain.back();
        const SassLine& middle = chain[chain.size() - 2];
        return outer.file == own && outer.line == 24 && middle.file == own && middle.line == 15;
      });
  EXPECT_TRUE(found);
}

TEST_P(RecordedText, AHeaderIsNamedAsItIsIncluded) {
  std::string moved = text;
  const std::string own = "/attnscope/features.cu", folder = "/anywhere/include/.cache/cuda/include/";
  for (size_t at = moved.find(own); at != std::string::npos; at = moved.find(own, at + 1))
    moved.replace(at, own.size(), folder + "cutlass/gemm/features.h");
  const auto parsed = parse_nvdisasm(moved, kernel);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(std::ranges::count(parsed->files, "cutlass/gemm/features.h"));
  for (const std::string& file : parsed->files) EXPECT_EQ(file.find(folder), std::string::npos) << file;
}

TEST_P(RecordedText, TheSqueezedSectionReadsTheSame) {
  const std::string section = kernel_section(text, "features");
  EXPECT_LT(section.size(), text.size());
  auto again = parse_nvdisasm(section, kernel);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->instructions.size(), program.instructions.size());
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    EXPECT_EQ(again->instructions[i].opcode, program.instructions[i].opcode);
    EXPECT_EQ(again->instructions[i].line.line, program.instructions[i].line.line);
    EXPECT_EQ(again->instructions[i].operands.size(), program.instructions[i].operands.size());
  }
}

// Directives are indented; a label is not.
TEST_P(RecordedText, AnIndentedLineIsNoLabel) {
  const std::string section = kernel_section(text, "features");
  const auto labels = [](const SassProgram& of) {
    std::vector<int64_t> targets;
    for (const SassInstruction& instruction : of.instructions)
      for (const SassOperand& operand : instruction.operands)
        if (operand.kind == OperandKind::label) targets.push_back(operand.value);
    return targets;
  };
  ASSERT_FALSE(labels(program).empty());
  for (const std::string indent : {" ", "\t"}) {
    std::string more;
    for (size_t at = section.find("\n.L_x_"); at != std::string::npos; at = section.find("\n.L_x_", at + 1))
      more += indent + section.substr(at + 1, section.find('\n', at + 1) - at);
    ASSERT_FALSE(more.empty());
    std::string indented = section;
    indented.insert(section.find('\n') + 1, more);
    const auto again = parse_nvdisasm(indented, kernel);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(labels(*again), labels(program));
  }
}

TEST_P(RecordedText, AnotherCubinsTextIsRefused) {
  CubinKernel other = kernel;
  other.text[33] ^= std::byte{4};
  auto parsed = parse_nvdisasm(text, other);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().stage, Stage::decode);
  other = kernel;
  other.name = "third";
  EXPECT_FALSE(parse_nvdisasm(text, other));
}

TEST_P(RecordedText, ATruncatedTextIsRefused) {
  const std::string section = kernel_section(text, "features");
  // Only labels follow the last instruction; every cut before the last instruction loses one.
  const size_t last = section.rfind("/* 0x");
  for (size_t size = 0; size < last; size += 997) EXPECT_FALSE(parse_nvdisasm(section.substr(0, size), kernel)) << size;
}

TEST_P(RecordedText, AnyFlippedCharactersNeverCrash) {
  const std::string section = kernel_section(text, "features");
  std::mt19937 random(GetParam().arch);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = section;
    for (int i = 0; i < 20; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    auto parsed = parse_nvdisasm(damaged, kernel);
    if (!parsed) {
      EXPECT_EQ(parsed.error().stage, Stage::decode);
    }
  }
}

SassOperand one(const std::string& text, const SassLabels& labels = {}) {
  const auto operands = parse_operands(text, labels);
  EXPECT_EQ(operands.size(), 1u) << text;
  return operands.empty() ? SassOperand{} : operands[0];
}

TEST(SassOperand, Registers) {
  SassOperand operand = one("-|R4.H1_H1|");
  EXPECT_EQ(operand.kind, OperandKind::reg);
  EXPECT_EQ(operand.reg, 4);
  EXPECT_TRUE(operand.negate && operand.absolute && !operand.reuse);
  EXPECT_EQ(operand.modifiers, std::vector<std::string>{"H1_H1"});
  operand = one("|R254|.reuse");
  EXPECT_TRUE(operand.absolute && operand.reuse);
  EXPECT_EQ(operand.reg, 254);
  EXPECT_EQ(one("RZ").reg, 255);
  EXPECT_EQ(one("URZ").reg, 63);
  EXPECT_EQ(one("~R7").invert, true);
  EXPECT_EQ(one("!UPT").kind, OperandKind::uniform_pred);
  EXPECT_EQ(one("!UPT").reg, 7);
}

TEST(SassOperand, Addresses) {
  SassOperand operand = one("[R2.X4+UR4+-0x10]");
  EXPECT_EQ(operand.kind, OperandKind::address);
  EXPECT_EQ(operand.reg, 2);
  EXPECT_EQ(operand.uniform_offset, 4);
  EXPECT_EQ(operand.value, -16);
  EXPECT_EQ(operand.modifiers, std::vector<std::string>{"X4"});
  operand = one("[UR6+0x8]");
  EXPECT_TRUE(operand.reg_is_uniform);
  EXPECT_EQ(operand.reg, 6);
  EXPECT_EQ(operand.uniform_offset, -1);
  operand = one("desc[UR36][R2.64+0x20]");
  EXPECT_EQ(operand.descriptor, 36);
  EXPECT_EQ(operand.reg, 2);
  operand = one("[0xc0]");
  EXPECT_EQ(operand.reg, -1);
  EXPECT_EQ(operand.value, 0xc0);
}

TEST(SassOperand, Constants) {
  SassOperand operand = one("-c[0x0][0x160]");
  EXPECT_EQ(operand.kind, OperandKind::constant);
  EXPECT_TRUE(operand.negate);
  EXPECT_EQ(operand.bank, 0);
  EXPECT_EQ(operand.value, 0x160);
  operand = one("c[0x3][R0+0x4]");
  EXPECT_EQ(operand.bank, 3);
  EXPECT_EQ(operand.reg, 0);
  operand = one("c[0x3][UR4]");
  EXPECT_TRUE(operand.reg_is_uniform);
  EXPECT_EQ(operand.reg, 4);
}

TEST(SassOperand, Immediates) {
  EXPECT_EQ(one("-0x10").value, -16);
  EXPECT_FALSE(one("-0x10").is_float || one("-0x10").negate);
  EXPECT_EQ(one("0xffffffff").value, 0xffffffff);
  EXPECT_TRUE(one("-24").is_float);
  EXPECT_EQ(one("-24").number, -24.0);
  EXPECT_TRUE(std::isinf(one("-INF").number));
  EXPECT_TRUE(std::isnan(one("+QNAN").number));
}

TEST(SassOperand, WhatIsNotUnderstoodIsKeptAsWritten) {
  for (const char* odd : {"gdesc[UR4]", "cx[UR4][0x10]", "{1,2}", "R300", "[R2", "c[0x0]", "R4..H0", "`(nowhere)", "2D",
                          "|R4", "desc[R2][R4]", "[R1+R2]", "0x", "1.5.2", "P8", "UR64"}) {
    const SassOperand operand = one(odd);
    EXPECT_EQ(operand.kind, OperandKind::text) << odd;
    EXPECT_EQ(operand.raw, odd);
    EXPECT_EQ(operand.reg, -1) << odd;
  }
}

TEST(SassOperand, AFloatThatItsEncodingDoesNotHoldIsNotGuessedAt) {
  SassInstruction instruction;
  instruction.opcode = "FADD";
  instruction.low = uint64_t{0x3f800000} << 32;  // 1.0f
  instruction.operands = parse_operands("R0, R1, 1", {});
  settle_float_immediates(instruction);
  EXPECT_EQ(instruction.operands[2].value, 0x3f800000);
  instruction.operands = parse_operands("R0, R1, 2", {});
  settle_float_immediates(instruction);
  EXPECT_EQ(instruction.operands[2].kind, OperandKind::text);
}

}  // namespace
}  // namespace attnscope::compile
