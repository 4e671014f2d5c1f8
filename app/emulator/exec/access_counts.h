#pragma once
#include <cstdint>

namespace attnscope::emulator {

// What the requests of one instruction did. Shared figures are wavefronts of an access's data path; a sector is 32
// bytes.
struct AccessCounts {
  uint64_t requests = 0;  // memory accesses and shuffles with at least one lane on; of a CTA barrier: its openings
  uint64_t empty_requests = 0;  // memory accesses with every lane predicated off
  uint64_t wavefronts = 0;      // shared
  uint64_t ideal = 0;           // shared: the wavefronts without conflicts
  uint64_t sectors = 0;         // global and local
  uint64_t lines = 0;           // of 128 bytes, of the same accesses
  uint64_t passes = 0;          // clocks of the L1 data cache that they take: passes_of()
  uint64_t local_sectors = 0;   // in local memory, by generic accesses; not in `sectors`
  // Atomics: how often lanes take turns. In global memory lanes at one word of a sector do, and the sectors of a
  // request; in shared memory those in one bank.
  uint64_t turns = 0;

  AccessCounts& operator+=(const AccessCounts& other);
  bool operator==(const AccessCounts&) const = default;
};

}  // namespace attnscope::emulator
