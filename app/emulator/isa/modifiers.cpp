// The meaning of modifiers of numbers, predicates and warps. Memory and Tensor Cores: modifiers_memory.cpp.
#include "emulator/isa/modifiers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/words.h"
#include "emulator/isa/modifier_words.h"

namespace attnscope::emulator {

namespace {

constexpr uint32_t kMxcsrDefault = 0x1f80;  // exceptions masked, round to nearest
constexpr uint32_t kMxcsrFlush = 0x8040;    // flush subnormal results and operands to zero
constexpr uint32_t kMxcsrDown = 0x2000, kMxcsrUp = 0x4000, kMxcsrZero = 0x6000;

Rounding rounding_of(const Spelled& spelled) {
  constexpr WordTable<Rounding, 6> words{{{Rounding::down, "RM"},
                                          {Rounding::down, "FLOOR"},
                                          {Rounding::up, "RP"},
                                          {Rounding::up, "CEIL"},
                                          {Rounding::zero, "RZ"},
                                          {Rounding::zero, "TRUNC"}}};
  return chosen(words, spelled).value_or(Rounding::nearest);
}

uint32_t mode_of(const Spelled& spelled) {
  constexpr uint32_t modes[] = {0, kMxcsrDown, kMxcsrUp, kMxcsrZero};
  return kMxcsrDefault | modes[static_cast<int>(rounding_of(spelled))];
}

FloatRules rules_of(const Spelled& spelled) {
  const Number half = spelled.has("BF16_V2") ? Number::bf16 : Number::f16;
  return {spelled.has("SAT"), spelled.has("NAN"), spelled.has("XORSIGN"), half, 1};
}

Comparison comparison_of(const Spelled& spelled, bool floats) {
  struct Lanes {
    bool less, equal, greater, unordered;
  };
  constexpr WordTable<Lanes, 14> words{{{{1, 0, 0, 0}, "LT"},
                                        {{0, 1, 0, 0}, "EQ"},
                                        {{1, 1, 0, 0}, "LE"},
                                        {{0, 0, 1, 0}, "GT"},
                                        {{1, 0, 1, 0}, "NE"},
                                        {{0, 1, 1, 0}, "GE"},
                                        {{1, 1, 1, 0}, "NUM"},
                                        {{0, 0, 0, 1}, "NAN"},
                                        {{1, 0, 0, 1}, "LTU"},
                                        {{0, 1, 0, 1}, "EQU"},
                                        {{1, 1, 0, 1}, "LEU"},
                                        {{0, 0, 1, 1}, "GTU"},
                                        {{1, 0, 1, 1}, "NEU"},
                                        {{0, 1, 1, 1}, "GEU"}}};
  constexpr WordTable<Logic, 3> logics{{{Logic::and_, "AND"}, {Logic::or_, "OR"}, {Logic::xor_, "XOR"}}};
  const auto lanes = chosen(words, spelled).value_or(Lanes{});
  const auto all_if = [](bool set) { return set ? kFull : 0; };
  return {{all_if(lanes.less), all_if(lanes.equal), all_if(lanes.greater), all_if(lanes.unordered && floats)},
          chosen(logics, spelled).value_or(Logic::and_),
          spelled.has("BF")};
}

Refusal convert(Op& op, uint32_t mode, const Conversion& conversion) {
  op.mxcsr = mode;
  op.detail.conversion = conversion;
  return nullptr;
}

// A conversion between an integer and a floating-point number names only types that are not the default.
std::pair<Number, Number> whole_and_real(const Spelled& spelled) {
  Number whole = Number::s32, real = Number::f32;
  for (Number type : types_of(spelled)) (is_float(type) ? real : whole) = type;
  return {whole, real};
}

}  // namespace

bool Spelled::has(std::string_view modifier) const {
  return std::ranges::find(instruction.modifiers, modifier) != instruction.modifiers.end();
}

uint8_t common_flags(const Spelled& spelled) {
  constexpr WordTable<OpFlag, 5> words{
      {{op_ftz, "FTZ"}, {op_relu, "RELU"}, {op_unsigned, "U32"}, {op_strong, "STRONG"}, {op_all, "ALL"}}};
  uint8_t flags = 0;
  for (const auto& [flag, word] : words)
    if (spelled.has(word)) flags |= flag;
  return flags;
}

HalfPick half_of(const compile::SassOperand& operand) {
  for (const std::string& modifier : operand.modifiers) {
    if (modifier == "H0_H0" || modifier == "H0") return HalfPick::lower;
    if (modifier == "H1_H1" || modifier == "H1") return HalfPick::upper;
  }
  return HalfPick::both;
}

namespace modifiers {

Refusal plain(const Spelled&, Op&) { return nullptr; }

// --- Floating point --------------------------------------------------------------------------------------------------

Refusal nearest(const Spelled&, Op& op) {
  op.mxcsr = kMxcsrDefault;
  return nullptr;
}
Refusal arithmetic(const Spelled& spelled, Op& op) {
  op.mxcsr = mode_of(spelled) | (spelled.has("FTZ") ? kMxcsrFlush : 0);
  op.detail.floats = rules_of(spelled);
  return nullptr;
}
Refusal min_max(const Spelled& spelled, Op& op) {
  op.detail.floats = rules_of(spelled);
  return nearest(spelled, op);
}
Refusal scaled(const Spelled& spelled, Op& op) {
  constexpr WordTable<float, 6> words{{{0.5f, "D2"}, {0.25f, "D4"}, {0.125f, "D8"}, {2, "M2"}, {4, "M4"}, {8, "M8"}}};
  min_max(spelled, op);
  op.detail.floats.scale = chosen(words, spelled).value_or(1.0f);
  return nullptr;
}
Refusal halves(const Spelled& spelled, Op& op) { return min_max(spelled, op); }
Refusal one_half(const Spelled&, Op& op) {
  op.imm = op.half[1] == HalfPick::upper ? 16 : 0;
  if (op.xor_b != 0) op.xor_b = 0x80008000u;  // the signs of two halves
  if (op.and_b != kFull) op.and_b = 0x7fff7fffu;
  return nullptr;
}
Refusal special_function(const Spelled& spelled, Op& op) {
  constexpr WordTable<Mufu, 10> words{{{Mufu::rsq, "RSQ"},
                                       {Mufu::sqrt, "SQRT"},
                                       {Mufu::lg2, "LG2"},
                                       {Mufu::sin, "SIN"},
                                       {Mufu::cos, "COS"},
                                       {Mufu::tanh, "TANH"},
                                       {Mufu::ex2, "EX2"},
                                       {Mufu::rcp, "RCP"},
                                       {Mufu::rcp, "RCP64H"},
                                       {Mufu::rsq, "RSQ64H"}}};
  op.detail.mufu = {chosen(words, spelled).value_or(Mufu::rcp), type_of(spelled, Number::f32)};
  return nearest(spelled, op);
}
Refusal greater_double(const Spelled& spelled, Op& op) {
  op.detail.takes_greater = spelled.has("MAX");
  return nearest(spelled, op);
}
Refusal compare_floats(const Spelled& spelled, Op& op) {
  op.comparison = comparison_of(spelled, true);
  return arithmetic(spelled, op);
}
Refusal compare_halves(const Spelled& spelled, Op& op) {
  op.comparison = comparison_of(spelled, true);
  return halves(spelled, op);
}
Refusal compare_integers(const Spelled& spelled, Op& op) {
  op.comparison = comparison_of(spelled, false);
  if (op.flags & op_unsigned) {  // with a bias, unsigned order becomes signed order
    op.xor_a = op.xor_b = 0x80000000u;
    op.variant |= Variant::modified;
  }
  return nullptr;
}

// --- Conversions -----------------------------------------------------------------------------------------------------

Refusal converted(const Spelled& spelled, Op& op) {
  const std::vector<Number> types = types_of(spelled);
  return convert(op, mode_of(spelled), {types[1], types[0], rounding_of(spelled), 0, false});
}
Refusal to_whole(const Spelled& spelled, Op& op) {
  const auto [whole, real] = whole_and_real(spelled);
  return convert(op, kMxcsrDefault, {real, whole, rounding_of(spelled), 0, false});
}
// R8.B1 gives 1.
uint8_t byte_of(const Spelled& spelled) {
  uint8_t byte = 0;
  for (const std::string& modifier : spelled.instruction.operands[1].modifiers)
    if (modifier[0] == 'B') byte = static_cast<uint8_t>(modifier[1] - '0');
  return byte;
}
Refusal source_byte(const Spelled& spelled, Op& op) {
  op.detail.conversion = {Number::u32, Number::u32, {}, byte_of(spelled), false};
  return nullptr;
}
Refusal from_whole(const Spelled& spelled, Op& op) {
  const auto [whole, real] = whole_and_real(spelled);
  return convert(op, mode_of(spelled), {whole, real, rounding_of(spelled), byte_of(spelled), false});
}
Refusal rounded(const Spelled& spelled, Op& op) {
  const Number type = type_of(spelled, Number::f32);
  return convert(op, kMxcsrDefault, {type, type, rounding_of(spelled), 0, false});
}
Refusal packed(const Spelled& spelled, Op& op) {
  const Number to = type_of(spelled, Number::f16) == Number::bf16 ? Number::bf16 : Number::f16;
  return convert(op, kMxcsrDefault, {Number::f32, to, rounding_of(spelled), 0, spelled.has("MERGE_C")});
}

// --- Integers and bits -----------------------------------------------------------------------------------------------

Refusal shift_amount(const Spelled&, Op& op) { return op.imm > 31 ? "a shift" : nullptr; }
Refusal carry(const Spelled& spelled, Op& op) {
  if (spelled.has("X")) return nullptr;
  op.x = op.y = kPredicateTrue;
  op.x_invert = op.y_invert = 1;
  return nullptr;
}
Refusal shift_carry(const Spelled& spelled, Op& op) {
  carry(spelled, op);
  return shift_amount(spelled, op);
}
Refusal look_up(const Spelled&, Op& op) { return op.imm > 255 ? "a table" : nullptr; }
Refusal funnel_shift(const Spelled& spelled, Op& op) {
  op.detail.shift = {spelled.has("L"), spelled.has("W"), spelled.has("HI"), type_of(spelled, Number::u32)};
  return nullptr;
}
Refusal prmt_mode(const Spelled& spelled, Op& op) {
  constexpr WordTable<PrmtMode, 6> words{{{PrmtMode::f4e, "F4E"},
                                          {PrmtMode::b4e, "B4E"},
                                          {PrmtMode::rc8, "RC8"},
                                          {PrmtMode::ecl, "ECL"},
                                          {PrmtMode::ecr, "ECR"},
                                          {PrmtMode::rc16, "RC16"}}};
  op.detail.prmt = chosen(words, spelled).value_or(PrmtMode::f4e);
  return nullptr;
}
Refusal parts(const Spelled& spelled, Op& op) {
  const Number type = type_of(spelled, Number::u32);
  op.detail.parts = {type, type, 0, 0, spelled.has("ACC")};
  return nullptr;
}
Refusal dot_product(const Spelled& spelled, Op& op) {
  const std::vector<Number> types = types_of(spelled);
  const bool fours = spelled.has("4A");
  op.detail.parts = {types[0], types[1], static_cast<uint8_t>(fours ? 4 : 2),
                     static_cast<uint8_t>(spelled.has("HI") ? 2 : 0), true};
  return nullptr;
}
Refusal wraps(const Spelled& spelled, Op& op) {
  op.detail.wraps = spelled.has("W");
  return nullptr;
}
Refusal as_shift(const Spelled& spelled, Op& op) {
  op.detail.as_shift = spelled.has("SH");
  return nullptr;
}

// --- Between lanes, and for the warp ---------------------------------------------------------------------------------

Refusal vote(const Spelled& spelled, Op& op) {
  constexpr WordTable<Vote, 3> words{{{Vote::all, "ALL"}, {Vote::any, "ANY"}, {Vote::equal, "EQ"}}};
  op.detail.vote = chosen(words, spelled).value_or(Vote::equal);
  return nullptr;
}
Refusal match(const Spelled& spelled, Op& op) {
  op.type = type_of(spelled, Number::u32);
  return nullptr;
}
Refusal lane_mask(const Spelled& spelled, Op& op) {
  constexpr WordTable<LaneMask, 5> words{{{LaneMask::equal, "SR_EQMASK"},
                                          {LaneMask::less, "SR_LTMASK"},
                                          {LaneMask::less_equal, "SR_LEMASK"},
                                          {LaneMask::greater, "SR_GTMASK"},
                                          {LaneMask::greater_equal, "SR_GEMASK"}}};
  for (const auto& [mask, word] : words)
    if (spelled.instruction.operands[1].raw == word) op.detail.lane_mask = mask;
  return nullptr;
}
Refusal clears(const Spelled& spelled, Op& op) {
  op.detail.clears = spelled.has("CLEAR");
  return nullptr;
}
Refusal return_address(const Spelled&, Op& op) {
  op.imm = op.index;
  return nullptr;
}
Refusal barrier(const Spelled& spelled, Op& op) {
  if (op.imm > 15) return "a barrier number";
  if (op.second > 1024 || op.second % 32 != 0) return "a number of threads";
  if (spelled.instruction.operands[0].kind == compile::OperandKind::immediate) op.flags |= op_all;
  constexpr WordTable<BarrierVote, 3> words{
      {{BarrierVote::count, "POPC"}, {BarrierVote::all, "AND"}, {BarrierVote::any, "OR"}}};
  op.detail.barrier_vote = chosen(words, spelled).value_or(BarrierVote::none);
  return nullptr;
}

}  // namespace modifiers
}  // namespace attnscope::emulator
