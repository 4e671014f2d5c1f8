#pragma once
#include <cstddef>
#include <cstdint>

#include "emulator/exec/access_counts.h"
#include "emulator/isa/op.h"

// The state that handlers access: plain data without the standard library. The lane handlers are compiled several times
// for different instruction sets and must not emit inline functions that code for another set could link to.
namespace attnscope::emulator {

constexpr uint32_t kMostSharedBytes = 255u << 10;  // per CTA; more than any supported GPU offers

enum class Kind : uint8_t { generic, broadcast, contiguous };

// The shape of one warp access, for any base: lane offsets from the first active lane, and the counts that follow from
// them.
struct alignas(64) Pattern {
  int32_t delta[32];  // bytes; 0 in inactive lanes
  uint32_t mask;
  uint32_t phase;              // base address modulo 4 (shared) or 32 (global)
  int32_t low, high;           // least and greatest delta
  uint16_t wavefronts, ideal;  // shared
  uint16_t sectors;            // global: distinct 32-byte sectors
  uint8_t lines[4];            // global: distinct 128-byte lines, by which sector of its line has the base
  uint8_t passes[4];           // global: see InstructionCounters, by the same
  uint8_t access;              // Access
  Kind kind;
  bool aligned;
};

enum class Access : uint8_t {
  shared_load_2,
  shared_load_4,
  shared_load_8,
  shared_load_16,
  shared_store_2,
  shared_store_4,
  shared_store_8,
  shared_store_16,
  shared_atomic_2,
  shared_atomic_4,
  shared_atomic_8,
  shared_atomic_16,
  global_2,
  global_4,
  global_8,
  global_16,
  count
};

// Fills a pattern from the addresses of the lanes in `mask` (not 0); `base` is the first active lane's.
void make_pattern(Pattern& pattern, Access access, const int32_t (&delta)[32], uint32_t mask, uint32_t phase);

// The counts of one instruction besides its issues.
struct OpCounts : AccessCounts {
  uint64_t lanes_on = 0;  // lanes for which the guard predicate holds; counted only if there is one
};

struct BlockCounts {
  uint64_t executions = 0;
  uint64_t threads = 0;  // sum of active lanes
};

struct MemoryRange {
  uint64_t address = 0, bytes = 0;  // the kernel's address
  uint8_t* host = nullptr;
  bool writable = false;
};

enum class FaultKind : uint8_t {
  none,
  global_outside,
  global_misaligned,
  global_read_only,
  shared_outside,
  shared_misaligned,
  local_outside,
  local_misaligned,
  constant_outside,
  bad_target,
  assertion,
  trap
};

// Generic addresses of shared and local memory begin at these; .text is at the last one. No buffer is placed there. The
// driver's functions that a kernel calls have made-up addresses.
constexpr uint64_t kExternalWindow = 0x7b0000000000;
enum class External : uint8_t { vprintf, assert_fail, count };
constexpr uint64_t kExternalFunctions = static_cast<uint64_t>(External::count);
constexpr uint64_t kSharedWindow = 0x7d0000000000, kLocalWindow = 0x7e0000000000, kCodeWindow = 0x7c0000000000;

struct ConstantImage {
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
};

struct Fault {
  FaultKind kind = FaultKind::none;
  uint32_t op = 0;
  int lane = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;
};

constexpr uint32_t kPatterns = 2048;

// A CTA's barriers. By CTA barrier: warps that only arrived, and the votes of BAR.RED.
struct CtaBarriers {
  static constexpr uint32_t kMostMbarriers = 32;  // that are known; waits at further ones are loops like others

  uint32_t arrived[16] = {}, votes[16] = {}, voters[16] = {};
  // Addresses of mbarriers at which something has arrived, and how often something did.
  uint32_t mbarriers[kMostMbarriers] = {}, mbarrier_count = 0;
  uint64_t arrivals = 0;
};

// An instruction that may wait for other warps, or in a cooperative launch for other CTAs: its own handlers. `full` is
// nullptr if it reads nothing that they write.
struct Poll {
  Handler full = nullptr, masked = nullptr;
  uint32_t number = 0;  // among them
};

// One host thread's state: counters, the address-pattern cache, the buffers. Never shared while running.
struct Machine {
  OpCounts* ops = nullptr;
  BlockCounts* blocks = nullptr;
  const Pattern** last = nullptr;  // by instruction: its last pattern
  const Pattern* none = nullptr;   // fits no access
  Pattern* patterns = nullptr;     // open addressing, kPatterns slots
  uint32_t* pattern_keys = nullptr;
  uint32_t pattern_count = 0;
  uint32_t pattern_restarts = 0;  // how often the cache was emptied
  uint32_t op_count = 0;
  const MemoryRange* ranges = nullptr;
  uint32_t range_count = 0;
  uint32_t last_range = 0;
  const ConstantImage* banks = nullptr;  // kConstantBanks
  CtaBarriers barriers;
  // Of the CTA that runs: by warp and poll, a digest of what it read last.
  const Poll* polls = nullptr;
  uint64_t* polled = nullptr;
  uint32_t poll_count = 0;
  void (*external)(Warp& warp, uint32_t function, uint32_t lane, const Op& op) = nullptr;
  void* log = nullptr;                 // the CtaLog for call_external()
  class Observer* observer = nullptr;  // nullptr: none
  class HotPlaces* hot_places = nullptr;
  uint32_t cta = 0;  // that runs
  Fault fault;
  uint32_t mxcsr = 0;
};

const Pattern& find_pattern(Machine& machine, uint32_t op, Access access, const int32_t (&delta)[32], uint32_t mask,
                            uint32_t phase);
// Any lane addresses, one at a time. Finds the faulting lane if there is one. `bytes` is the access's width.
void global_one_by_one(Warp& warp, const Op& op, uint32_t mask, int64_t offset, uint32_t bytes, bool store);
// LDGSTS with any lane addresses, one at a time.
void copy_one_by_one(Warp& warp, const Op& op, uint32_t mask);
// The buffer that contains `address`; nullptr: none.
const MemoryRange* find_range(Machine& machine, uint64_t address);

enum class Wait : uint8_t { free, ready, bsync, warpsync, bar };

// Lanes of a warp that are at the same instruction.
struct Fragment {
  uint32_t mask = 0;
  uint32_t pc = 0;      // instruction index
  uint32_t wanted = 0;  // warpsync: the lanes to join; CTA barrier: the threads it counts, 0 for all
  Wait wait = Wait::free;
  uint8_t barrier = 0;  // B register or named barrier that it waits for
  BarrierVote vote = BarrierVote::none;
};

struct Warp : Registers {
  uint32_t barrier[16][32];  // convergence barriers: the participating lanes, as recorded by each lane's BSSY
  Machine* machine;
  uint8_t* shared;                   // offset so that shared + address is the host address
  uint32_t shared_low, shared_high;  // legal addresses
  uint8_t* local;                    // [word][lane]
  uint32_t local_bytes;              // per thread
  uint32_t live;                     // lanes that have not exited
  uint32_t barrier_result;           // of the last BAR.RED
  Fragment fragments[32];
  uint32_t fragment_count;
  uint32_t next_fragment;  // where the search for a ready fragment begins
  uint32_t id;
  uint64_t steps;     // instructions issued
  uint64_t turn_end;  // the steps at which its turn ends
  bool polls;         // its turn ended because it read what it had read before, at polled_op
  uint32_t polled_op;
  uint32_t* trace;  // blocks executed, in order; nullptr: not recorded
  uint32_t trace_count, trace_capacity;
  class LocalReuse* local_reuse;  // of a traced CTA; nullptr: not recorded
};
static_assert(sizeof(Warp) <= kLaneFileOffset);

// static, so that each translation unit has its own copy for its own instruction set.
static inline uint8_t* bytes_of(Warp& warp) { return reinterpret_cast<uint8_t*>(&warp); }
static inline uint32_t& word(Warp& warp, uint32_t offset) {
  return *reinterpret_cast<uint32_t*>(bytes_of(warp) + offset);
}
// The lowest lane of `mask`, which is not 0.
static inline uint32_t first_lane(uint32_t mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }
// Keeps the first fault.
static inline void set_fault(Warp& warp, const Op& op, FaultKind kind, uint32_t lane, uint64_t address,
                             uint32_t bytes) {
  if (warp.machine->fault.kind != FaultKind::none) return;
  warp.machine->fault = {kind, op.index, static_cast<int>(lane), address, bytes};
}
// LOP3: for each bit, the entry of `table` that a, b and c select.
static inline uint32_t looked_up(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (int i = 0; i < 8; ++i)
    if (table >> i & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}
static inline void leave_barrier(Warp& warp, uint32_t barrier, uint32_t lanes) {
  for (uint32_t& noted : warp.barrier[barrier]) noted &= ~lanes;
}
}  // namespace attnscope::emulator
