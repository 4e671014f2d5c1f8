// The meaning of modifiers of memory accesses, copies and Tensor Core products, and the names of number types.
#include <algorithm>

#include "emulator/isa/modifier_words.h"

namespace attnscope::emulator {

std::vector<Number> types_of(const Spelled& spelled) {
  constexpr WordTable<Number, 20> words{
      {{Number::u4, "U4"},        {Number::s4, "S4"},   {Number::u8, "U8"},     {Number::s8, "S8"},
       {Number::u16, "U16"},      {Number::s16, "S16"}, {Number::u32, "U32"},   {Number::s32, "S32"},
       {Number::u64, "U64"},      {Number::s64, "S64"}, {Number::f16, "F16"},   {Number::bf16, "BF16"},
       {Number::bf16, "BF16_V2"}, {Number::f32, "F32"}, {Number::f64, "F64"},   {Number::f16, "F16x2"},
       {Number::bf16, "BF16x2"},  {Number::u64, "64"},  {Number::s16, "S16x2"}, {Number::u16, "U16x2"}}};
  std::vector<Number> types;
  for (const std::string& modifier : spelled.instruction.modifiers)
    for (const auto& [type, word] : words)
      if (word == modifier) types.push_back(type);
  return types;
}
Number type_of(const Spelled& spelled, Number otherwise) {
  const std::vector<Number> types = types_of(spelled);
  return types.empty() ? otherwise : types[0];
}

namespace {

Atomic atomic_of(const Spelled& spelled) {
  constexpr WordTable<Atomic, 10> words{{{Atomic::add, "ADD"},
                                         {Atomic::add, "SUM"},
                                         {Atomic::min, "MIN"},
                                         {Atomic::max, "MAX"},
                                         {Atomic::inc, "INC"},
                                         {Atomic::dec, "DEC"},
                                         {Atomic::and_, "AND"},
                                         {Atomic::or_, "OR"},
                                         {Atomic::xor_, "XOR"},
                                         {Atomic::exch, "EXCH"}}};
  return chosen(words, spelled).value_or(Atomic::and_);  // REDUX without a name
}

}  // namespace

namespace modifiers {

Refusal access(const Spelled& spelled, Op& op, Space space, AccessKind kind) {
  op.space = space;
  op.access = kind;
  op.type = type_of(spelled, Number::u32);
  const bool byte = op.type == Number::u8 || op.type == Number::s8,
             half = op.type == Number::u16 || op.type == Number::s16;
  op.bytes = byte ? 1 : half ? 2 : spelled.has("64") ? 8 : spelled.has("128") ? 16 : 4;
  return nullptr;
}
Refusal combine(const Spelled& spelled, Op& op, Space space, Effect effect) {
  op.space = space;
  op.access = AccessKind::both;
  op.effect = effect;
  // POPC.INC adds how many lanes there are. Of the lanes of CAST.SPIN in one bank one succeeds, and the code tries
  // again.
  const bool combined = spelled.has("POPC") || spelled.has("SPIN");
  op.lane_wavefronts = combined ? 0 : effect == Effect::swaps ? 2 : 1;
  op.detail.atomic = atomic_of(spelled);
  op.type = type_of(spelled, Number::u32);
  op.bytes = is_wide(op.type) ? 8 : 4;
  return nearest(spelled, op);
}
Refusal copy(const Spelled& spelled, Op& op) {
  op.effect = Effect::copies;
  return access(spelled, op, Space::shared, AccessKind::store);
}
Refusal begins_mbarrier(const Spelled& spelled, Op& op) {
  op.effect = Effect::begins_mbarrier;
  return access(spelled, op, Space::shared, AccessKind::store);
}
Refusal arrives(const Spelled& spelled, Op& op) {
  const bool transactions = spelled.has("TRANS64"), only_transactions = spelled.has("A0T1");
  op.effect = Effect::arrives;
  access(spelled, op, Space::shared, AccessKind::both);
  op.bytes = 8;
  op.detail.arrival = {transactions, static_cast<uint8_t>(only_transactions ? 0 : 1),
                       static_cast<int8_t>(only_transactions ? -1 : 0), spelled.has("OPTOUT"), spelled.has("ART0")};
  return nullptr;
}
// Before sm_90 the copies of a thread arrive as a thread does. From then on those that it counted are transactions.
Refusal copies_arrive(const Spelled& spelled, Op& op) {
  const bool transactions = spelled.has("TRANSCNT");
  op.effect = Effect::copies_arrive;
  access(spelled, op, Space::shared, AccessKind::both);
  op.detail.arrival = {transactions || spelled.has("ARVCNT"), static_cast<uint8_t>(transactions ? 0 : 1),
                       static_cast<int8_t>(transactions ? 1 : 0), false, false};
  return nullptr;
}
Refusal checks_phase(const Spelled& spelled, Op& op) {
  op.effect = Effect::checks_phase;
  access(spelled, op, Space::shared, AccessKind::none);
  op.bytes = 8;
  return nullptr;
}
Refusal matrices(const Spelled& spelled, Op& op) {
  op.space = Space::shared;
  op.access = AccessKind::load;
  op.bytes = 16;  // one row of a matrix
  op.detail.matrices = spelled.has("4") ? 4 : spelled.has("2") ? 2 : 1;
  return nullptr;
}
Refusal reduce_lanes(const Spelled& spelled, Op& op) {
  op.detail.atomic = atomic_of(spelled);
  return match(spelled, op);
}

Refusal syncs_warp(const Spelled&, Op& op) {
  op.effect = Effect::syncs_warp;
  return nullptr;
}
Refusal fences_device(const Spelled&, Op& op) {
  op.effect = Effect::fences_device;
  return nullptr;
}
Refusal closes_copies(const Spelled&, Op& op) {
  op.effect = Effect::closes_copies;
  return nullptr;
}
// Only SB0 counts groups of copies, because LDGDEPBAR uses it.
Refusal awaits_copies(const Spelled& spelled, Op& op) {
  op.effect = Effect::awaits_copies;
  op.detail.copies_left = static_cast<uint32_t>(spelled.instruction.operands[1].value);
  return nullptr;
}

Refusal tensor(const Spelled& spelled, Op& op) {
  const uint8_t depth = spelled.has("1688") ? 8 : 16;
  const Number sum = spelled.has("F32") ? Number::f32 : Number::f16;
  op.detail.tensor = {tensor_sum(spelled.arch), Number::f16, Number::f16, sum, 16, depth, false};
  return nearest(spelled, op);
}
Refusal tensor_tf32(const Spelled& spelled, Op& op) {
  const uint8_t depth = spelled.has("1688") ? 8 : 4;
  op.detail.tensor = {tf32_sum(spelled.arch), Number::f32, Number::f32, Number::f32, 16, depth, false};
  return nearest(spelled, op);
}
Refusal tensor_doubles(const Spelled& spelled, Op& op) {
  op.detail.tensor = {{}, Number::f64, Number::f64, Number::f64, 8, 4, false};
  return nearest(spelled, op);
}
Refusal tensor_integers(const Spelled& spelled, Op& op) {
  const std::vector<Number> types = types_of(spelled);
  const uint8_t rows = spelled.has("8816") || spelled.has("8832") ? 8 : 16;
  const uint8_t depth = spelled.has("16864") ? 64 : spelled.has("16832") || spelled.has("8832") ? 32 : 16;
  op.detail.tensor = {{}, types[0], types[1], Number::s32, rows, depth, spelled.has("SAT")};
  return nullptr;
}

}  // namespace modifiers
}  // namespace attnscope::emulator
