#pragma once
#include <array>
#include <cstdint>

#include "core/shared_access.h"

namespace attnscope::charts {

// One access to shared memory as lanes by banks. Bank 0 is that of the first active lane.
struct BankGrid {
  // Words of 4 bytes that a lane takes of a bank.
  std::array<std::array<int, 32>, 32> words{};  // [lane][bank]
  std::array<int, 32> distinct{};               // words of a bank that any lane takes, each once
  Wavefronts wavefronts{};
};
BankGrid bank_grid(const SharedAccess& access);

// How rows lie in shared memory, in place of how they lay when the access was recorded.
struct Layout {
  int64_t padding = 0;   // bytes behind each row
  bool swizzle = false;  // a row's 16-byte chunks are permuted by the lowest three bits of its number
};

// Bytes from one row to the next, as far as the lanes tell: the greatest common divisor of their distances. 0: they lie
// in one row, or too close to be in rows of at least 32 bytes.
int64_t row_bytes(const SharedAccess& access);

// The access with rows of `row` bytes in another layout; `row` > 0. Rows and chunks count from the first active lane's,
// which changes which banks are used, and not how often. A swizzle stays within a row, and moves nothing where a row
// has fewer than eight chunks of 16 bytes but within those.
SharedAccess relaid(const SharedAccess& access, int64_t row, const Layout& layout);

}  // namespace attnscope::charts
