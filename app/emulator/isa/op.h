#pragma once
#include <cstdint>

#include "emulator/isa/family.h"
#include "emulator/isa/registers.h"
#include "emulator/isa/tensor_sum.h"

// A decoded instruction. Plain data, no standard library (see exec/warp.h).
namespace attnscope::emulator {

struct Warp;  // defined by the executor
struct Op;

// Executes one warp instruction for the lanes of `mask`; the registers of other lanes keep their values.
using Handler = void (*)(Warp& warp, const Op& op, uint32_t mask);

enum class Number : uint8_t { none, u4, s4, u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64 };
constexpr bool is_float(Number type) { return type >= Number::f16; }
constexpr bool is_wide(Number type) { return type == Number::u64 || type == Number::s64 || type == Number::f64; }
constexpr int bits_of(Number type) {
  return is_wide(type)                                                                               ? 64
         : type == Number::u32 || type == Number::s32 || type == Number::f32                         ? 32
         : type == Number::u16 || type == Number::s16 || type == Number::f16 || type == Number::bf16 ? 16
         : type == Number::u4 || type == Number::s4                                                  ? 4
                                                                                                     : 8;
}

enum class Rounding : uint8_t { nearest, down, up, zero };
enum class Logic : uint8_t { and_, or_, xor_ };
enum class Space : uint8_t { global, shared, local, generic };
enum class AccessKind : uint8_t { none, load, store, both };
constexpr bool reads(AccessKind kind) { return kind == AccessKind::load || kind == AccessKind::both; }
constexpr bool writes(AccessKind kind) { return kind == AccessKind::store || kind == AccessKind::both; }

// Which halves of a register a packed operand uses: both in place, or one of them twice.
enum class HalfPick : uint8_t { both, lower, upper };

// What an instruction means to an observer, besides its memory accesses.
// The last ones are of an mbarrier: it begins, threads arrive, their copies do, and a check whether a phase is over.
enum class Effect : uint8_t {
  none,
  syncs_warp,
  fences_device,
  closes_copies,
  awaits_copies,
  copies,
  swaps,
  begins_mbarrier,
  arrives,
  copies_arrive,
  checks_phase
};

enum class Atomic : uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch };
enum class Mufu : uint8_t { rsq, sqrt, lg2, sin, cos, tanh, ex2, rcp };
enum class PrmtMode : uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };
enum class Vote : uint8_t { all, any, equal };
enum class LaneMask : uint8_t { equal, less, less_equal, greater, greater_equal };
enum class BarrierVote : uint8_t { none, count, all, any };  // how BAR.RED combines the lanes' votes

// Whether a lane is set for a < b, a = b, a > b and for NaN, and how the result is combined with predicate x.
struct Comparison {
  uint32_t select[4] = {};
  Logic logic = Logic::and_;
  bool gives_one = false;  // FSET.BF: 1.0 instead of all ones if it holds
};

// The meaning of the modifiers for one group of forms. The decoder in the form's row (modifiers.h) determines which
// member is set.
struct FloatRules {
  bool saturates, nan_wins, sign_is_product;
  Number half;  // of packed halves
  float scale;  // FMUL.D2 …: a factor that is a power of two
};
struct Conversion {
  Number from, to;
  Rounding rounding;
  uint8_t byte;  // I2F, R2P: index of the register's byte
  bool merges;   // F2FP: only the lower half is converted; the upper half is b's
};
struct FunnelShift {
  bool left, wraps, high;
  Number type;  // the width of the shift and its sign
};
struct Parts {  // bytes and 16-bit parts of a register as integers
  Number a, b;
  uint8_t terms, first;  // of a dot product; `first`: part of b
  bool sums;
};
struct TensorShape {
  TensorSum sum;
  Number a, b, c;  // c: of the sum
  uint8_t rows, depth;
  bool saturates;
};
// What an arrival at an mbarrier changes, for each lane.
struct Arrival {
  bool counts_transactions;  // the mbarriers of sm_90, which have another layout
  uint8_t arrivals;
  int8_t transactions;  // added to their negative count
  bool drops;           // later phases expect one arrival less
  bool from_register;   // source c says how many arrivals
};
struct FunctionOf {
  Mufu function;
  Number type;
};
union Detail {
  uint32_t none = 0;
  FloatRules floats;
  Conversion conversion;
  FunnelShift shift;
  Parts parts;
  TensorShape tensor;
  FunctionOf mufu;
  Atomic atomic;
  PrmtMode prmt;
  Vote vote;
  LaneMask lane_mask;
  BarrierVote barrier_vote;
  Arrival arrival;
  uint32_t bank;          // for constants at a register's offset
  int32_t source_offset;  // added to a copy's global address
  uint32_t copies_left;   // DEPBAR: waits until at most this many groups of copies are pending
  uint32_t matrices;      // LDSM
  bool wraps;             // BMSK, SGXT: amounts are taken modulo 32
  bool as_shift;          // FLO: gives the distance from the top bit
  bool clears;            // BMOV
  bool takes_greater;     // DSETP.MAX
};

// One decoded instruction. Sources and destinations are byte offsets from the Registers.
struct Op {
  Handler entry = nullptr;  // with all lanes active; checks the guard predicate if there is one
  Handler full = nullptr;
  Handler masked = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  uint32_t and_a = kFull, and_b = kFull, and_c = kFull;  // |x|, if a family supports it
  uint32_t xor_a = 0, xor_b = 0, xor_c = 0;  // -x of a float; the order-preserving bias of an unsigned compare
  uint32_t imm = 0;                          // LUT, shift, byte selector, address offset, branch target
  uint32_t second = 0;                       // the second immediate: PLOP3's other LUT, the threads of a barrier
  Comparison comparison;
  uint32_t index = 0;                                                  // of the instruction
  uint32_t mxcsr = 0;                                                  // required rounding and flush mode; 0: any
  uint8_t pred = kPredicateTrue, pred_invert = 0;                      // guard
  uint8_t p = kPredicateTrash, q = kPredicateTrash;                    // predicate destinations
  uint8_t x = kPredicateTrue, y = kPredicateTrue, z = kPredicateTrue;  // predicate sources
  uint8_t x_invert = 0, y_invert = 0, z_invert = 0;
  uint8_t sign_a = 0, sign_b = 0, sign_c = 0;  // integer negation (two's complement) or, for some forms, bitwise not
  uint8_t flags = 0;
  uint8_t shift = 0;  // log2 of an address register's scale
  uint8_t barrier = 0;
  Family family = Family::nop;
  uint16_t row = 0;  // index in the tested list (forms.inc)
  uint8_t variant = 0;
  uint8_t one = 0;        // general forms: bits 0, 1, 2 say that a, b, c have one value for all lanes
  HalfPick half[3] = {};  // of a, b, c
  // For a memory access:
  Space space = Space::global;
  AccessKind access = AccessKind::none;
  uint8_t bytes = 0;          // per lane
  Number type = Number::u32;  // the type that a load extends or an atomic combines
  Effect effect = Effect::none;
  // Of an atomic: the wavefronts in shared memory for each lane that a bank serves; 0: lanes with one word are
  // combined, and it counts as a store.
  uint8_t lane_wavefronts = 0;
  uint32_t e = 0;  // the fourth source
  Detail detail;
};

enum OpFlag : uint8_t {
  op_touches_memory = 1,  // runs even with every lane predicated off, because the request is counted
  op_ftz = 2,             // flushes subnormals, in families that do it themselves
  op_unsigned = 4,
  op_relu = 8,
  op_address_uniform = 16,  // adds uniform register b to the address
  op_strong = 32,           // volatile, or ordered between threads
  op_all = 64,
};

}  // namespace attnscope::emulator
