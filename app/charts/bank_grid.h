#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/shared_access.h"
#include "core/shared_layout.h"

namespace attnscope::charts {

// Lanes that are served together.
struct BankPhase {
  uint32_t lanes = 0;              // bit n: lane n
  int wavefronts = 0;              // the most words that a single bank serves
  std::array<int, 32> distinct{};  // for each bank, how many different words the lanes access
};

// One access to shared memory as a grid of lanes and banks.
struct BankGrid {
  // How many 4-byte words a lane accesses in a bank.
  std::array<std::array<int, 32>, 32> words{};  // [lane][bank]
  std::vector<BankPhase> phases;                // their wavefronts add up to wavefronts.taken
  Wavefronts wavefronts{};

  // The phase that serves the lane; null if the lane is not active.
  const BankPhase* phase_of(int lane) const;
};
BankGrid bank_grid(const SharedAccess& access);

}  // namespace attnscope::charts
