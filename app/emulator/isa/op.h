#pragma once
#include <cstdint>

#include "emulator/isa/family.h"
#include "emulator/isa/registers.h"

// A decoded instruction. Plain data, no standard library (exec/warp.h).
namespace attnscope::emulator {

struct Warp;  // the executor's
struct Op;

// Executes one warp instruction for the lanes of `mask`; registers of other lanes are left alone.
using Handler = void (*)(Warp& warp, const Op& op, uint32_t mask);

// Type names of conversions and atomics, as modifiers spell them.
enum class Number : uint8_t { none, u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64 };
constexpr bool is_float(Number type) { return type >= Number::f16; }
constexpr bool is_wide(Number type) { return type == Number::u64 || type == Number::s64 || type == Number::f64; }

enum class Rounding : uint8_t { nearest, down, up, zero };

enum class Atomic : uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch, cas };

enum class Space : uint8_t { global, shared, local, generic };

// Op::imm2 at a CTA barrier: the threads it counts (0: all), and from this bit on what BAR.RED makes of the votes.
constexpr uint32_t kBarrierResultShift = 16;

// One decoded instruction. Sources and destinations are byte offsets from the Warp.
struct Op {
  Handler entry = nullptr;  // with all lanes active; checks the guard predicate if there is one
  Handler full = nullptr;
  Handler masked = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  uint32_t and_a = kFull, and_b = kFull, and_c = kFull;  // |x|, where a family takes it
  uint32_t xor_a = 0, xor_b = 0, xor_c = 0;  // -x of a float; the order-preserving bias of an unsigned compare
  uint32_t imm = 0;                          // LUT, shift, byte selector, address offset, branch target
  uint32_t imm2 = 0;
  uint32_t select[4] = {};                           // compares: lanes to set when a<b, a=b, a>b, unordered
  uint32_t index = 0;                                // of the instruction
  uint32_t mxcsr = 0;                                // rounding and flush mode this needs; 0: any
  uint8_t pred = kPredicateTrue, pred_invert = 0;    // guard
  uint8_t p = kPredicateTrash, q = kPredicateTrash;  // predicate destinations
  uint8_t x = kPredicateTrue, y = kPredicateTrue, z = kPredicateTrue;  // predicate sources
  uint8_t x_invert = 0, y_invert = 0, z_invert = 0;
  uint8_t logic = 0;                           // 0 AND, 1 OR, 2 XOR with predicate x
  uint8_t sign_a = 0, sign_b = 0, sign_c = 0;  // integer negation (two's complement) or, where said, bitwise not
  uint8_t flags = 0;
  uint8_t shift = 0;  // log2 of an address register's scale
  uint8_t barrier = 0;
  Family family = Family::nop;
  uint16_t row = 0;  // of the tested list (forms.inc)
  uint8_t variant = 0;
  // Of general handlers and memory accesses (general.h):
  uint8_t one = 0;                             // sources that are one value for all lanes: bits 0, 1, 2 for a, b, c
  uint8_t half_a = 0, half_b = 0, half_c = 0;  // 1 the lower half twice, 2 the upper half twice
  uint8_t from = 0, to = 0;                    // Number
  uint8_t round = 0;                           // Rounding
  uint8_t space = 0;                           // Space
  uint8_t bytes = 0;                           // a lane's access
  uint8_t access = 0;                          // 0 none, 1 load, 2 store, 3 both
  uint32_t e = 0;                              // a fourth source
};

enum OpFlag : uint8_t {
  op_touches_memory = 1,  // runs even with every lane predicated off: the request is counted
  op_ftz = 2,             // flush subnormals, for families that do it themselves
  op_unsigned = 4,
  op_relu = 8,
  op_address_uniform = 16,  // adds uniform register b to the address
  op_collective = 32,
  op_all = 64,
};

}  // namespace attnscope::emulator
