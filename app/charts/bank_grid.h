#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/shared_access.h"

namespace attnscope::charts {

// Lanes that are served together.
struct BankPhase {
  uint32_t lanes = 0;              // bit n: lane n
  int wavefronts = 0;              // the most words that one bank serves
  std::array<int, 32> distinct{};  // words of a bank that any of the lanes takes, each once
};

// One access to shared memory as lanes by banks.
struct BankGrid {
  // Words of 4 bytes that a lane takes of a bank.
  std::array<std::array<int, 32>, 32> words{};  // [lane][bank]
  std::vector<BankPhase> phases;                // their wavefronts add up to wavefronts.taken
  Wavefronts wavefronts{};

  // The phase that serves the lane, or null: the lane is not active.
  const BankPhase* phase_of(int lane) const;
};
BankGrid bank_grid(const SharedAccess& access);

// How rows lie in shared memory, in place of how they lay when the access was recorded.
struct Layout {
  int64_t padding = 0;   // bytes behind each row
  bool swizzle = false;  // a row's 16-byte chunks are permuted by the lowest three bits of its number
};

// Bytes from one row to the next, as far as the lanes tell: the greatest common divisor of their distances, of matrices
// only of rows of the same one. Where chunks are permuted within rows, the power of two of which each row of a matrix
// has the next multiple. 0: they lie in one row, or too close to be in rows of at least 32 bytes.
int64_t row_bytes(const SharedAccess& access);

// The access with rows of `row` bytes in another layout; `row` > 0. Rows and chunks count from byte `origin` on, which
// no lane lies below. A swizzle stays within a row, and moves nothing where a row has fewer than eight chunks of 16
// bytes but within those.
SharedAccess relaid(const SharedAccess& access, int64_t row, int64_t origin, const Layout& layout);
// The lowest byte that a lane accesses; 0: no lane is active.
int64_t lowest_byte(const SharedAccess& access);

}  // namespace attnscope::charts
