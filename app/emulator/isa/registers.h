#pragma once
#include <cstddef>
#include <cstdint>

// The layout of a warp's operands. The decoder turns each operand into a byte offset in it, and the executor's warp
// begins with it. Plain data, no standard library (see exec/warp.h).
namespace attnscope::emulator {

constexpr uint32_t kFull = 0xffffffffu;
constexpr int kPredicateTrue = 7;
constexpr int kPredicateTrash = 8;        // target of writes to PT
constexpr int kUniformPredicates = 16;    // UP0 is pred[16]; the same layout
constexpr int kUniformZero = 63;          // URZ; 64 is zero too, for pairs
constexpr int kUniformTrash = 66;         // target of writes to URZ, including pairs
constexpr int kZeroRegisters = 4;         // RZ as a source, up to 128 bits
constexpr int kTrashRegisters = 4;        // RZ as a destination
constexpr uint32_t kMaxConstants = 1024;  // distinct immediates and constants of one kernel
constexpr uint32_t kConstantBanks = 32;

struct Registers {
  uint32_t pred[32];      // P0…P6, PT, trash; from 16: UP0…UP6, UPT, trash, each all ones or zero
  uint32_t ur[72];        // UR0…UR62, URZ
  uint32_t specials[16];  // scalars that S2R and S2UR read
  uint32_t constants[kMaxConstants];
  alignas(64) uint32_t tid[3][32];
  alignas(64) uint32_t lane_id[32];
};
// The lane registers: R0…Rn-1, 4 × RZ, 4 × trash, each uint32_t[32]. The executor's own state of a warp is before them.
constexpr uint32_t kLaneFileOffset = 7872;

}  // namespace attnscope::emulator
