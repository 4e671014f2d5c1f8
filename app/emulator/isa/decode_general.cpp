// What the modifiers of general forms and of memory accesses mean, into the fields that their handlers read.
#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string_view>

#include "emulator/isa/decode_general.h"
#include "emulator/isa/tensor_sum.h"

namespace attnscope::emulator {

namespace {

using compile::SassInstruction;
using compile::SassOperand;

constexpr uint32_t kMxcsrDefault = 0x1f80, kMxcsrFlush = 0x8040;

bool has(const SassInstruction& instruction, std::string_view modifier) {
  return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) != instruction.modifiers.end();
}
bool is(const SassInstruction& instruction, std::initializer_list<std::string_view> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), instruction.opcode) != opcodes.end();
}

std::optional<Number> number_of(std::string_view modifier) {
  struct Name {
    std::string_view name;
    Number type;
  };
  constexpr Name names[] = {{"U8", Number::u8},     {"S8", Number::s8},        {"U16", Number::u16},
                            {"S16", Number::s16},   {"U32", Number::u32},      {"S32", Number::s32},
                            {"U64", Number::u64},   {"S64", Number::s64},      {"F16", Number::f16},
                            {"BF16", Number::bf16}, {"BF16_V2", Number::bf16}, {"F32", Number::f32},
                            {"F64", Number::f64},   {"F16x2", Number::f16},    {"BF16x2", Number::bf16},
                            {"64", Number::u64},    {"S16x2", Number::s16},    {"U16x2", Number::u16}};
  for (const Name& name : names) {
    if (name.name == modifier) return name.type;
  }
  return std::nullopt;
}

Rounding rounding_of(const SassInstruction& instruction) {
  if (has(instruction, "RM") || has(instruction, "FLOOR")) return Rounding::down;
  if (has(instruction, "RP") || has(instruction, "CEIL")) return Rounding::up;
  if (has(instruction, "RZ") || has(instruction, "TRUNC")) return Rounding::zero;
  return Rounding::nearest;
}

template <class T>
void set(uint8_t& field, T value) {
  field = static_cast<uint8_t>(value);
}

// Which of two type names is which: a conversion between a whole and a floating-point number names only what is not the
// rule.
void set_types(const SassInstruction& instruction, Op& op) {
  std::vector<Number> named;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto type = number_of(modifier)) named.push_back(*type);
  }
  const std::string& opcode = instruction.opcode;
  if (opcode == "F2I" || opcode == "I2F") {
    Number whole = Number::s32, real = Number::f32;
    for (Number type : named) (is_float(type) ? real : whole) = type;
    set(op.to, opcode == "F2I" ? whole : real);
    set(op.from, opcode == "F2I" ? real : whole);
  } else if (opcode == "FRND" || opcode == "MUFU") {
    set(op.from, named.empty() ? Number::f32 : named[0]);
  } else if (opcode == "F2FP") {
    set(op.to, !named.empty() && named[0] == Number::bf16 ? Number::bf16 : Number::f16);
  } else if (opcode == "IMMA") {  // of a and of b
    set(op.from, named[0]);
    set(op.to, named[1]);
  } else if (named.size() == 2) {  // F2F, I2FP, I2I, I2IP, IDP
    set(op.to, named[0]);
    set(op.from, named[1]);
  } else if (!named.empty()) {
    set(op.from, named[0]);
  }
}

void set_atomic(const SassInstruction& instruction, Op& op) {
  struct Name {
    std::string_view name;
    Atomic what;
  };
  constexpr Name names[] = {{"ADD", Atomic::add},  {"SUM", Atomic::add},   {"MIN", Atomic::min},  {"MAX", Atomic::max},
                            {"INC", Atomic::inc},  {"DEC", Atomic::dec},   {"AND", Atomic::and_}, {"OR", Atomic::or_},
                            {"XOR", Atomic::xor_}, {"EXCH", Atomic::exch}, {"CAS", Atomic::cas}};
  op.imm2 = static_cast<uint32_t>(Atomic::and_);  // REDUX without a name
  for (const Name& name : names) {
    if (has(instruction, name.name)) op.imm2 = static_cast<uint32_t>(name.what);
  }
  Number type = Number::u32;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto named = number_of(modifier)) type = *named;
  }
  set(op.from, type);
  op.bytes = is_wide(type) ? 8 : 4;
  op.mxcsr = kMxcsrDefault;
}

uint32_t mufu_function(const SassInstruction& instruction) {
  constexpr std::string_view names[] = {"RSQ", "SQRT", "LG2", "SIN", "COS", "TANH", "EX2", "RCP", "RCP64H", "RSQ64H"};
  for (size_t i = 0; i < std::size(names); ++i) {
    if (has(instruction, names[i])) return i == 8 ? 7 : i == 9 ? 0 : static_cast<uint32_t>(i);
  }
  return 7;
}

uint8_t half_of(const SassOperand& operand) {
  for (const std::string& modifier : operand.modifiers) {
    if (modifier == "H0_H0" || modifier == "H0") return 1;
    if (modifier == "H1_H1" || modifier == "H1") return 2;
  }
  return 0;
}

}  // namespace

void configure_memory(const SassInstruction& instruction, Op& op) {
  const std::string& opcode = instruction.opcode;
  const bool reduces = is(instruction, {"ATOM", "ATOMS", "ATOMG", "RED", "REDG"});
  const bool loads = is(instruction, {"LDG", "LD", "LDS", "LDL", "LDC", "ULDC"});
  const bool stores = is(instruction, {"STG", "ST", "STS", "STL"});
  if (!reduces && !loads && !stores && opcode != "LDGSTS" && opcode != "LDSM" && opcode != "QSPC") return;
  const Space space = is(instruction, {"LDS", "STS", "ATOMS", "LDGSTS", "LDSM"}) ? Space::shared
                      : is(instruction, {"LDL", "STL"})                          ? Space::local
                      : is(instruction, {"LD", "ST", "ATOM", "QSPC"})            ? Space::generic
                                                                                 : Space::global;
  set(op.space, space);
  op.access = reduces                                                   ? 3
              : stores || opcode == "LDGSTS"                            ? 2
              : opcode == "LDC" || opcode == "ULDC" || opcode == "QSPC" ? 0
                                                                        : 1;
  if (reduces) return set_atomic(instruction, op);
  if (opcode == "LDSM") {
    op.bytes = has(instruction, "4") ? 4 : has(instruction, "2") ? 2 : 1;  // matrices
    op.imm2 = has(instruction, "MT88");
    return;
  }
  op.bytes = has(instruction, "U8") || has(instruction, "S8")     ? 1
             : has(instruction, "U16") || has(instruction, "S16") ? 2
             : has(instruction, "64")                             ? 8
             : has(instruction, "128")                            ? 16
                                                                  : 4;
  set(op.to, has(instruction, "S8")    ? Number::s8
             : has(instruction, "U8")  ? Number::u8
             : has(instruction, "S16") ? Number::s16
             : has(instruction, "U16") ? Number::u16
                                       : Number::u32);
}

void configure_general(const SassInstruction& instruction, int arch, Op& op) {
  const std::string& opcode = instruction.opcode;
  const auto ops = std::span(instruction.operands);
  const Rounding rounding = rounding_of(instruction);
  set(op.round, rounding);
  const bool is_double = is(instruction, {"DADD", "DMUL", "DFMA", "DSETP"});
  const bool is_single = is(instruction, {"FADD", "FMUL", "FFMA"});
  const bool converts = is(instruction, {"I2F", "I2FP", "F2F"});
  if (is_double || is_single || converts) {
    constexpr uint32_t modes[] = {0, 0x2000, 0x4000, 0x6000};
    op.mxcsr =
        kMxcsrDefault | modes[static_cast<int>(rounding)] | (is_single && has(instruction, "FTZ") ? kMxcsrFlush : 0);
  } else if (is(instruction, {"F2I", "FRND", "F2FP", "MUFU", "FMNMX", "FSET", "FCHK"}) || opcode[0] == 'H') {
    op.mxcsr = kMxcsrDefault;
  }
  if (is(instruction,
         {"F2I", "I2F", "FRND", "MUFU", "F2FP", "F2F", "I2FP", "I2I", "I2IP", "IDP", "MATCH", "VABSDIFF4", "IMMA"}) ||
      opcode[0] == 'V') {
    set_types(instruction, op);
  }
  if (opcode == "REDUX") set_atomic(instruction, op);
  if (opcode[0] == 'H') {
    set(op.from, has(instruction, "BF16_V2") ? Number::bf16 : Number::f16);
    op.imm2 = has(instruction, "SAT") * 1 + has(instruction, "NAN") * 2 + has(instruction, "XORSIGN") * 4 +
              has(instruction, "BF") * 8;
  }
  if (is_single || opcode == "FMNMX") {
    op.imm2 = has(instruction, "SAT") * 1 + has(instruction, "NAN") * 2 + has(instruction, "XORSIGN") * 4;
  }
  if (opcode == "FMUL") {
    constexpr std::pair<std::string_view, float> scales[] = {{"D2", 0.5f}, {"D4", 0.25f}, {"D8", 0.125f},
                                                             {"M2", 2},    {"M4", 4},     {"M8", 8}};
    for (const auto& [name, scale] : scales) {
      if (!has(instruction, name)) continue;
      op.imm = std::bit_cast<uint32_t>(scale);
      op.mxcsr = kMxcsrDefault;  // it flushes for itself
    }
  }
  if (opcode == "FSET") op.imm2 = has(instruction, "BF");
  if (opcode == "DSETP") op.imm2 = has(instruction, "MAX");
  if (opcode == "MUFU") op.imm2 = mufu_function(instruction);
  if (opcode == "F2FP") op.imm2 = has(instruction, "MERGE_C");
  if (is(instruction, {"FLO"})) op.imm2 = has(instruction, "SH");
  if (is(instruction, {"BMSK", "SGXT"})) op.imm2 = has(instruction, "W");
  if (opcode == "VABSDIFF4") op.imm2 = has(instruction, "ACC");
  if (opcode == "IDP") op.imm2 = has(instruction, "LO") ? 1 : has(instruction, "HI") ? 2 : 0;
  if (opcode == "IMMA") {
    op.imm = has(instruction, "8816") ? 8 : 16;
    op.bytes = has(instruction, "16832") ? 32 : 16;
    op.imm2 = has(instruction, "SAT");
  }
  if (opcode == "HMMA") {  // of TF32
    const TensorSum sum = tf32_sum(arch);
    op.imm = static_cast<uint32_t>(sum.depth);
    op.imm2 = static_cast<uint32_t>(sum.fraction_bits);
    op.bytes = has(instruction, "1688") ? 8 : 4;
  }
  if (opcode == "BMOV") op.imm2 = has(instruction, "CLEAR");
  if (is(instruction, {"VOTE", "VOTEU"})) op.imm2 = has(instruction, "ALL") ? 0 : has(instruction, "ANY") ? 1 : 2;
  if (opcode == "PRMT") {
    constexpr std::string_view modes[] = {"F4E", "B4E", "RC8", "ECL", "ECR", "RC16"};
    for (uint32_t i = 0; i < std::size(modes); ++i) {
      if (has(instruction, modes[i])) op.imm2 = i;
    }
  }
  if (is(instruction, {"SHF", "USHF"})) {
    op.imm2 = has(instruction, "L") * 1 + has(instruction, "W") * 2 + has(instruction, "HI") * 4;
    set(op.to, has(instruction, "U64")   ? Number::u64
               : has(instruction, "S64") ? Number::s64
               : has(instruction, "S32") ? Number::s32
                                         : Number::u32);
  }
  if (is(instruction, {"S2R", "S2UR", "CS2R"}) && ops.size() == 2) {
    constexpr std::string_view masks[] = {"SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK"};
    op.imm2 = opcode == "S2UR" ? 1 : opcode == "S2R" || has(instruction, "32") ? 2 : 0;
    for (uint32_t i = 0; i < std::size(masks); ++i) {
      if (ops[1].raw == masks[i]) op.imm2 = i;
    }
  }
  // Halves that an operand picks, by the slot it went to: sources follow the destinations.
  size_t source = 0;
  for (const SassOperand& operand : ops) {
    if (&operand == &ops[0] || operand.kind == compile::OperandKind::predicate) continue;
    if (opcode == "HSETP2" && source == 0 && operand.kind == compile::OperandKind::predicate) continue;
    uint8_t* const halves[] = {&op.half_a, &op.half_b, &op.half_c};
    if (source < 3) *halves[source] = half_of(operand);
    if (opcode == "I2F" && !operand.modifiers.empty() && operand.modifiers[0].size() == 2 &&
        operand.modifiers[0][0] == 'B') {
      op.imm2 = static_cast<uint32_t>(operand.modifiers[0][1] - '0');
    }
    // A packed immediate is printed as two operands.
    source +=
        !(operand.is_float && &operand + 1 < ops.data() + ops.size() && (&operand)[1].is_float && opcode[0] == 'H');
  }
}

}  // namespace attnscope::emulator
