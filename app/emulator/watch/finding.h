#pragma once
#include <cstdint>
#include <string>

#include "core/rule.h"

namespace attnscope::emulator {

enum class WatchKind : uint8_t {
  shared_write_write,
  shared_write_read,
  shared_read_write,  // races; the name gives the earlier access, then the later
  warp_write_write,
  warp_write_read,
  warp_read_write,            // the same between unsynchronised lanes of one warp
  shared_copy_not_awaited,    // an asynchronous copy, then an access before a wait for it
  shared_part_never_written,  // a later part of a vector, which the program may not use (RunResult::suspected)
  shared_never_written,
  local_never_written,
  barrier_uneven,  // warps pass one barrier at different places of the source
  shuffle_absent_lane,
  global_write_write,
  global_write_read,
  global_read_write,  // races in global memory between warps of a CTA
  grid_write_write,
  grid_write_read,
  grid_read_write,  // between CTAs
  global_never_written
};

inline bool is_race(WatchKind kind) { return kind <= WatchKind::shared_read_write; }
inline bool is_warp_race(WatchKind kind) {
  return kind >= WatchKind::warp_write_write && kind <= WatchKind::warp_read_write;
}

inline bool is_global_race(WatchKind kind) {
  return kind >= WatchKind::global_write_write && kind <= WatchKind::global_read_write;
}
inline bool is_grid_race(WatchKind kind) {
  return kind >= WatchKind::grid_write_write && kind <= WatchKind::grid_read_write;
}

RuleId rule_of(WatchKind kind);

// One diagnosis. Each pair of instructions is reported once.
struct WatchFinding {
  WatchKind kind = WatchKind::shared_write_write;
  // Instructions: where it was detected, and the other side (equal for kinds with one side).
  uint32_t op = 0, other = 0;
  std::string line, other_line;  // source lines: "02_tiled.cu:174"
  uint64_t count = 0;            // how often, over all CTAs that ran
  // For the first occurrence: its CTA and the other side's (x + grid.x·(y + grid.y·z)); the byte of shared or local
  // memory, or of the buffer in global memory; the threads of both sides.
  uint32_t cta = 0, other_cta = 0, thread = 0, other_thread = 0;
  uint64_t address = 0;
  std::string buffer;        // the part of shared memory with `address`, or the global buffer; empty: unknown
  uint64_t buffer_byte = 0;  // offset of `address` in it
  std::string message;       // complete text, for people
};

// A buffer that starts without contents and that the CTAs did not write completely.
struct UnwrittenBuffer {
  std::string buffer;
  uint64_t first = 0, bytes = 0;  // the first unwritten byte, and how many there are
  // The line that stores next to the first such byte; empty: nothing stores to the buffer.
  std::string line;
};

}  // namespace attnscope::emulator
